#include "proxy/jobs/job_queue.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace spillway::proxy {

namespace {

constexpr Milliseconds kTryAgain{500};
constexpr std::chrono::seconds kUnknown{5};  // Retry-After before any job has ended

// Jobs that wait or are in hand.
std::uint64_t unfinished(const store::Totals& totals) {
  std::uint64_t sum = 0;
  for (const store::Totals::Route& route : totals.routes)
    for (const auto state :
         {jobs::JobState::queued, jobs::JobState::leased, jobs::JobState::retrying})
      sum += route.by_state[index(state)];
  return sum;
}

// A disk that is full when the proxy starts is no reason to refuse live traffic.
bool may_come_back(const store::Failure& failure) {
  return failure.kind == store::Failure::Kind::unavailable ||
         failure.kind == store::Failure::Kind::full;
}

bool ends_job(const StoreCall& call) {
  const auto* const settle = std::get_if<store::Settle>(&call.command);
  return settle != nullptr && !settle->is_lost && jobs::has_ended(settle->progress.state);
}

}  // namespace

JobQueue::JobQueue(Open open, JobDispatcher::Acts acts,
                   std::function<void(const store::Failure&)> on_failure, std::string proxy_name)
    : open_(std::move(open)),
      on_failure_(std::move(on_failure)),
      keys_in_flight_([this] { wake(); }),
      dispatcher_(std::move(acts), counts_, std::move(proxy_name)) {}

std::optional<store::Failure> JobQueue::start(JobRoutes routes) {
  store::Opened opened = open_();
  if (opened.store == nullptr && !may_come_back(opened.failure)) return opened.failure;
  store_ = std::move(opened.store);
  note_opened(opened.failure);
  store_ != nullptr ? condition_.opened() : on_failure_(opened.failure);
  max_bytes_ = routes.generation->config.store.max_bytes;
  lookups_.set_rate(routes.generation->config.store.lookups_per_second);
  dispatcher_.configure(std::move(routes));
  thread_ = std::thread([this] {
    ::pthread_setname_np(::pthread_self(), "store");
    run();
  });
  return std::nullopt;
}

void JobQueue::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    told_.to_stop = true;
  }
  bell_.ring();
  thread_.join();
}

bool JobQueue::submit(StoreCall& call) {
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    if (!is_settle(call) && (told_.to_stop || !is_available())) return false;
    if (!calls_.add(call)) return false;
    wakes = is_to_wake();
  }
  if (wakes) bell_.ring();
  return true;
}

Withdrawal JobQueue::withdraw(StoreCall& call) {
  const std::lock_guard lock(mutex_);
  const bool is_removed = !is_available() && calls_.remove(call);
  return is_removed ? Withdrawal::withdrawn : Withdrawal::too_late;
}

void JobQueue::configure(JobRoutes routes) {
  lookups_.set_rate(routes.generation->config.store.lookups_per_second);
  {
    const std::lock_guard lock(mutex_);
    told_.routes = std::move(routes);
  }
  bell_.ring();
}

void JobQueue::stop_pulling() {
  {
    const std::lock_guard lock(mutex_);
    told_.to_stop_pulling = true;
  }
  bell_.ring();
}

void JobQueue::refused(const std::string& route, Duration pause) {
  {
    const std::lock_guard lock(mutex_);
    told_.refused[route] = pause;
  }
  wake();
}

void JobQueue::job_started() {
  {
    const std::lock_guard lock(mutex_);
    told_.of_job_started = true;
  }
  wake();
}

observe::JobsSnapshot JobQueue::snapshot() const {
  const std::lock_guard lock(mutex_);
  observe::JobsSnapshot snapshot = seen_;
  snapshot.counts = &counts_;
  snapshot.now = wall_now();
  snapshot.is_available = is_available();
  return snapshot;
}

std::chrono::seconds JobQueue::retry_after(std::uint64_t position, Milliseconds least) const {
  const std::lock_guard lock(mutex_);
  const jobs::Standing job{
      .position = position, .lanes = outlook_.lanes, .pending = unfinished(seen_.totals)};
  return outlook_.estimate.retry_after(jobs::jobs_until(job), kUnknown, least);
}

void JobQueue::run() {
  while (wait_for_work()) turn();
  const bool has_finished = finish();
  dispatcher_.give_up_lines();
  give_up_waiting();
  // Jobs that have ended would be given back as if they had not begun. They are recovered instead.
  if (!has_finished || store_ == nullptr || dispatcher_.epoch() == 0) return;
  store::Command leave = store::Leave{.epoch = dispatcher_.epoch()};
  store::Command* const one = &leave;
  if (const auto failure = store_->execute({&one, 1}, wall_now())) return on_failure_(*failure);
  dispatcher_.left();
}

// Executes the calls that workers have submitted, and the ends of jobs. After a failure the latter
// are tried once more; false: that failed too.
bool JobQueue::finish() {
  bool had_failed = !condition_.is_available();
  while (store_ != nullptr) {
    Batch batch = take_batch();
    if (batch.empty()) break;
    execute(batch);
    if (!condition_.is_available() && std::exchange(had_failed, true)) return false;
  }
  return true;
}

// Under the mutex. True, once: the thread sleeps and must be woken for a message.
bool JobQueue::is_to_wake() { return std::exchange(told_.is_asleep, false); }

// Under the mutex.
bool JobQueue::has_work() const {
  return told_.to_stop || told_.routes || told_.of_job_started || told_.to_stop_pulling ||
         !told_.refused.empty() ||
         (condition_.is_available() && (!calls_.is_empty() || keys_in_flight_.has_let_go()));
}

// Takes the announcements of other proxies.
bool JobQueue::listen() {
  const store::Heard heard = store_ ? store_->heard() : store::Heard{};
  dispatcher_.heard(heard, wall_now());
  return !heard.is_empty();
}

// False: the thread should end.
bool JobQueue::wait_for_work() {
  bool has_heard = listen();
  const TimePoint now = Clock::now();
  const TimePoint due = condition_.is_available() ? dispatcher_.next_due(now, wall_now()) : try_at_;
  std::unique_lock lock(mutex_);
  if (due > now && !has_work() && condition_.is_available()) {
    lock.unlock();
    condition_.begin(now);
    store_->rest();
    condition_.end();
    lock.lock();
  }
  while (!has_work() && !has_heard && Clock::now() < due) {
    told_.is_asleep = true;
    lock.unlock();
    bell_.wait(store_ ? store_->descriptor() : -1, due);
    has_heard = listen();
    lock.lock();
    told_.is_asleep = false;
  }
  if (std::exchange(told_.to_stop_pulling, false)) dispatcher_.stop_pulling();
  told_.of_job_started = false;
  for (const auto& [route, pause] : std::exchange(told_.refused, {}))
    dispatcher_.refused(route, Clock::now(), Clock::now() + pause);
  if (told_.routes) {
    dispatcher_.configure(std::move(*told_.routes));
    told_.routes.reset();
  }
  return !told_.to_stop;
}

void JobQueue::turn() {
  const TimePoint now = Clock::now();
  dispatcher_.follow_clock(
      std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now()), now);
  if (!condition_.is_available() && now < try_at_) return;
  if (store_ == nullptr && !open_again()) return;
  Batch batch;
  if (condition_.is_available()) batch = take_batch();
  std::vector<store::Command> wanted;
  if (CallQueue::is_long(batch)) dispatcher_.renew_now();
  dispatcher_.plan(wanted, now, wall_now());
  tell_of_keys(wanted);
  // A probe, if no other command shows whether the store is back.
  if (wanted.empty() && !condition_.is_available()) wanted.emplace_back(store::Totals{});
  Batch own;
  // Commands that keep the leases neither wait for a long call nor fail with it.
  Batch& with = CallQueue::is_long(batch) ? own : batch;
  for (store::Command& command : wanted) {
    own_.push_back(std::make_unique<StoreCall>(std::move(command)));
    with.push_back(own_.back().get());
  }
  if (!own.empty()) execute(own);
  if (!batch.empty()) execute(batch);
  own_.clear();
}

void JobQueue::note_opened(const store::Failure& failure) {
  if (store_ == nullptr) condition_.failed(failure);
  if (store_ == nullptr || !store_->is_shared()) return;
  dispatcher_.share();
  condition_.share();
  keys_in_flight_.share();
}

bool JobQueue::open_again() {
  store::Opened opened = open_();
  store_ = std::move(opened.store);
  note_opened(opened.failure);
  try_at_ = Clock::now() + kTryAgain;
  return store_ != nullptr;
}

JobQueue::Batch JobQueue::take_batch() {
  const std::lock_guard lock(mutex_);
  return calls_.take_batch();
}

void JobQueue::execute(Batch& batch) {
  std::vector<store::Command*> commands;
  commands.reserve(batch.size());
  for (StoreCall* const call : batch) {
    name_asker(*call);
    commands.push_back(&call->command);
  }
  const TimePoint began = Clock::now();
  condition_.begin(began);
  const auto failure = store_->execute(commands, wall_now());
  condition_.end();
  if (failure)
    failed(batch, *failure);
  else
    succeeded(batch, Clock::now() - began);
}

void JobQueue::succeeded(Batch& batch, Duration took) {
  condition_.succeeded(std::any_of(batch.begin(), batch.end(), has_taken_space));
  const TimePoint now = Clock::now();
  const jobs::WallTime wall = wall_now();
  const bool had_work = dispatcher_.has_work(now, wall);
  {
    const std::lock_guard lock(mutex_);
    for (const StoreCall* const call : batch) notify(call->command);
    const auto ended = static_cast<std::uint64_t>(std::count_if(
        batch.begin(), batch.end(), [](const StoreCall* call) { return ends_job(*call); }));
    outlook_.estimate.observe(ended, had_work, now);
    outlook_.estimate.take_part(dispatcher_.is_pulling() && (had_work || seen_.paused.empty()));
    for (const StoreCall* const call : batch) {
      const auto* const renew = std::get_if<store::Renew>(&call->command);
      if (renew != nullptr && !renew->is_lost)
        outlook_.estimate.learn_others(static_cast<double>(renew->rate_of_others) / 1000);
    }
    dispatcher_.tell_rate(outlook_.estimate.rate_to_tell());
    outlook_.lanes = dispatcher_.lanes_due();
  }
  for (StoreCall* const call : batch) {
    hold_back(*call, now);
    check_taken(call->command);
    dispatcher_.learn(call->command, now, wall);
  }
  counts_.commit_times.observe(took);
  {
    const std::lock_guard lock(mutex_);
    seen_.commands += batch.size();
    seen_.longest_commit = std::max(seen_.longest_commit, took);
    for (StoreCall* const call : batch)
      if (auto* const totals = std::get_if<store::Totals>(&call->command)) note(std::move(*totals));
  }
  for (StoreCall* const call : batch) answer(*call);
}

// Pauses the route of a job that could not be sent, or was refused: its jobs would return at once.
void JobQueue::hold_back(const StoreCall& call, TimePoint now) {
  if (!call.pauses_route && !call.refused_for && !call.no_slot) return;
  const std::string* const route = dispatcher_.route_of(call.as<store::Settle>());
  if (route == nullptr) return;
  if (call.pauses_route) dispatcher_.pause(*route, now, now + *call.pauses_route);
  if (call.refused_for) dispatcher_.refused(*route, now, now + *call.refused_for);
  if (!call.no_slot) return;
  dispatcher_.rest(call.as<store::Settle>(), now, *call.no_slot);
  const std::lock_guard lock(mutex_);
  ++seen_.without_slot[*route];
}

// The call may be destroyed once it is delivered.
void JobQueue::answer(StoreCall& call) {
  Withdrawals& withdrawals = dispatcher_.withdrawals();
  if (withdrawals.wait(call)) return;
  Batch cancels;
  if (is_settle(call)) cancels = withdrawals.settled(call.as<store::Settle>());
  deliver(call);
  for (StoreCall* const cancel : cancels) deliver(*cancel);
}

void JobQueue::note(store::Totals totals) {
  condition_.measured(totals.bytes > max_bytes_);
  seen_.totals = std::move(totals);
  seen_.paused = dispatcher_.paused(seen_.totals, Clock::now());
  seen_.cap_shares = dispatcher_.cap_shares();
  buried_ = calls_.letters_by_route();
}

// Nothing was changed: waiting requests get the failure, and ended jobs are settled later.
void JobQueue::failed(Batch& batch, const store::Failure& failure) {
  ++counts_.store_failures;
  if (CallQueue::is_long(batch)) {  // the next batches show whether the store works
    batch.front()->failure = failure;
    return deliver(*batch.front());
  }
  if (condition_.failed(failure)) on_failure_(failure);
  try_at_ = Clock::now() + kTryAgain;
  dispatcher_.failed(Clock::now());
  Batch refused;
  {
    const std::lock_guard lock(mutex_);
    for (auto call = batch.rbegin(); call != batch.rend(); ++call) {
      if (!is_settle(**call)) continue;
      (*call)->as<store::Settle>().is_sent_again = true;
      calls_.put_back(**call);
    }
    refused = calls_.take_refused();
    notify_all();
  }
  for (StoreCall* const call : batch) {
    let_go_later(call->command);
    if (!is_settle(*call)) refused.push_back(call);
  }
  for (StoreCall* const cancel : dispatcher_.withdrawals().give_up()) refused.push_back(cancel);
  for (StoreCall* const call : refused) {
    call->failure = failure;
    deliver(*call);
  }
}

void JobQueue::deliver(StoreCall& call) {
  if (call.mailbox != nullptr) {
    call.mailbox->deliver(call);
  } else if (call.done) {
    const std::function<void()> done = std::move(call.done);  // `done` may destroy the call
    done();
  }
}

void JobQueue::give_up_waiting() {
  Batch batch = dispatcher_.withdrawals().give_up();
  for (const Batch rest = take_batch(); StoreCall* const call : rest) batch.push_back(call);
  for (; !batch.empty(); batch = take_batch()) {
    for (StoreCall* const call : batch) {
      call->failure = store::Failure{store::Failure::Kind::unavailable, "the proxy is stopping"};
      deliver(*call);
    }
  }
}

}  // namespace spillway::proxy
