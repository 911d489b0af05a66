#include "simulate/run/simulation.hpp"

#include <chrono>
#include <utility>

#include "dispatch/estimate/hold_times.hpp"
#include "simulate/model/deferral_rules.hpp"
#include "simulate/run/run.hpp"

namespace spillway::simulate {
namespace {

using namespace std::chrono_literals;

// The periods of the proxy's workers.
constexpr Milliseconds kTimerPeriod{10};
constexpr Milliseconds kSweepPeriod{50};
// Simulated time after the end, so that the last requests are answered.
constexpr Duration kDrain = 2s;
// Retry-After when a route has its maximum of waiting jobs.
constexpr Duration kStoreFull = 5s;

}  // namespace

Run::Run(const Scenario& scenario, bool shedding, const Progress& progress)
    : scenario_(scenario),
      upstream_(scenario.config.upstreams[index(scenario.upstream)]),
      progress_(progress),
      clients_(scenario),
      backend_(scenario.backend, random_stream(scenario.seed, Draws::failures, 0)),
      servers_(upstream_, backend_.servers(), random_stream(scenario.seed, Draws::servers, 0)),
      loop_(std::chrono::microseconds(scenario.proxy.request_us)),
      jobs_(scenario, kBegin),
      visitors_(scenario),
      recorder_(scenario, shedding, kBegin) {
  if (shedding) proxy_ = std::make_unique<ProxyModel>(scenario, &servers_);
}

Recording Run::run() {
  const TimePoint end = kBegin + std::chrono::seconds(scenario_.seconds);
  now_ = kBegin;
  schedule_beginning();
  while (!events_.empty() && events_.next().at <= end + kDrain) {
    const Event event = events_.pop();
    if (event.request != nullptr && event.request->use != event.request_use) continue;
    now_ = event.at;
    handle(event);
  }
  WorkDone work = work_at_end_;
  work.available -= work_at_start_.available;
  work.useful -= work_at_start_.useful;
  work.wasted -= work_at_start_.wasted;
  return recorder_.finish(work);
}

void Run::schedule_beginning() {
  for (const Change& change : scenario_.changes) {
    schedule(kBegin + from_seconds(change.at), EventKind::change);
    if (change.until) schedule(kBegin + from_seconds(*change.until), EventKind::change);
  }
  schedule(kBegin + std::chrono::seconds(scenario_.warm_up_seconds), EventKind::measure);
  for (std::uint32_t i = 0; i < clients_.processes(); ++i) schedule_arrival(i);
  if (proxy_) {
    schedule(kBegin + kTimerPeriod, EventKind::timer);
    schedule(kBegin + kSweepPeriod, EventKind::sweep);
    schedule(kBegin + upstream_.overload.tick, EventKind::tick);
  }
  schedule(kBegin + 1s, EventKind::second);
}

// Schedules the next arrival of that process.
void Run::schedule_arrival(std::uint32_t process) {
  Request& request = pool_.acquire();
  const auto at = clients_.next(process, request);
  if (at) {
    schedule(kBegin + *at, EventKind::arrival, request);
  } else {
    pool_.release(request);
  }
}

void Run::handle(const Event& event) {
  switch (event.kind) {
    case EventKind::arrival:
      schedule_arrival(clients_.process_of(*event.request));
      visitors_.is_visit(*event.request) ? come(*event.request) : arrive(*event.request);
      break;
    case EventKind::visitor: act(*event.request); break;
    case EventKind::retry: arrive(*event.request); break;
    case EventKind::completion: complete(*event.request); break;
    case EventKind::gives_up: give_up(*event.request); break;
    case EventKind::slot_due: take_slot(*event.request); break;
    case EventKind::response_timeout: time_out(*event.request); break;
    case EventKind::resend: send(*event.request); break;
    case EventKind::loop:
      loop_.done();
      run_loop();
      break;
    case EventKind::timer:
      on_timer();
      schedule(now_ + kTimerPeriod, EventKind::timer);
      break;
    case EventKind::sweep:
      proxy_->sweep(now_);
      schedule(now_ + kSweepPeriod, EventKind::sweep);
      break;
    case EventKind::tick: tick(); break;
    case EventKind::change:
      backend_.apply(changes_in_force(), now_);
      work_in_backend();
      break;
    case EventKind::second: end_second(); break;
    case EventKind::measure: work_at_start_ = backend_.work_done(now_); break;
    case EventKind::rate_wait:
      jobs_.let_go(*event.request);
      enter_job(*event.request);
      break;
    case EventKind::spare_wait: end_spare_wait(*event.request); break;
    case EventKind::pull:
      is_pulling_ = false;
      pull_jobs();
      break;
  }
}

void Run::on_timer() {
  if (loop_.takes_time()) loop_.timer_due(now_);
  run_loop();
  while (Request* late = proxy_->expire(now_)) expire(*late);
  start_waiting();
  while (const auto lost = proxy_->next_ghost_lost()) recorder_.would_deny(*lost, now_);
  while (Request* late = jobs_.expire(now_)) pool_.release(*late);
  ask_for_jobs();
}

void Run::arrive(Request& request) {
  request.came = now_;
  request.client_waits = true;
  recorder_.offered(request);
  if (const auto timeout = clients_.timeout(request))
    schedule(now_ + *timeout, EventKind::gives_up, request);
  if (!proxy_) {
    send(request);
  } else if (!loop_.takes_time()) {
    admit(request);
  } else {
    request.in_loop = true;
    loop_.add(request, now_);
    run_loop();
  }
}

void Run::run_loop() {
  while (loop_.is_idle()) {
    Request* const request = loop_.take(now_);
    if (request == nullptr) return;
    request->in_loop = false;
    bool is_refused = true;
    if (request->as_job) {
      is_refused = !enter_job(*request);
    } else if (request->client_waits) {
      is_refused = !admit(*request);
    } else {
      pool_.release(*request);
    }
    schedule(now_ + loop_.work(is_refused), EventKind::loop);
  }
}

// False: the request was refused, or answered without the backend, which takes Spillway half of the
// time.
bool Run::admit(Request& request) {
  const ProxyModel::Admission admission = proxy_->arrive(request, now_);
  if (admission.would_refuse) recorder_.would_deny(request.traffic_class, now_);
  if (admission.evicted != nullptr) expire(*admission.evicted);
  switch (admission.entry) {
    case ProxyModel::Entry::start: start(request); return true;
    case ProxyModel::Entry::forward: send(request); return true;
    case ProxyModel::Entry::wait: note_depth(); return true;
    case ProxyModel::Entry::refused:
      recorder_.denied(request);
      lose(request, admission.retry_after);
      return false;
    case ProxyModel::Entry::deferred:
      if (defer(request)) return true;
      recorder_.denied(request);
      lose(request, kStoreFull);
      return false;
    case ProxyModel::Entry::answered:
      recorder_.admitted(request, now_);
      request.begun = now_;
      request.work = 0;
      recorder_.served(request, now_);
      leave(request);
      return false;
  }
  return false;
}

void Run::start(Request& request) {
  if (request.as_job && !may_begin(request)) return;
  if (request.is_retried_job() && !may_send_again(request)) return;
  proxy_->start(request, now_);
  if (request.as_job) {
    jobs_.begin(request.as_job->lane.rank);
    ask_for_jobs();
  }
  send(request);
}

// Starts every request that the gate now gives a slot.
void Run::start_waiting() {
  while (Request* next = proxy_->next(now_)) start(*next);
}

void Run::send(Request& request) {
  if (!std::exchange(request.is_sent, true)) {
    if (!request.as_job) recorder_.admitted(request, now_);
    if (!request.is_retried_job()) servers_.begin(now_);
  }
  using Connected = ServersModel::Connected;
  const auto accepts = [this](std::size_t server) { return backend_.accepts(server); };
  const Connected connected = proxy_ ? servers_.connect(request, accepts, now_)
                                     : servers_.connect_in_turn(request, accepts);
  if (connected == Connected::yes) {
    reach(request);
  } else if (!proxy_) {
    recorder_.failed(request, now_);
    lose(request, Duration{0});
  } else {
    send_again_or_fail(request, connected);
  }
}

void Run::reach(Request& request) {
  request.in_backend = true;
  backend_.arrive(request);
  const Duration patience = upstream_.response_timeout;
  const auto timeout = clients_.timeout(request);
  if (proxy_ && (request.as_job || !timeout || request.came + *timeout > now_ + patience))
    schedule(now_ + patience, EventKind::response_timeout, request);
  work_in_backend();
  note_depth();
}

// A retry keeps the request's slot.
void Run::send_again_or_fail(Request& request, ServersModel::Connected connected) {
  if (connected == ServersModel::Connected::refused && !request.as_job) {
    const TimePoint due = request.passage.dispatched + upstream_.response_timeout;
    if (const auto pause = servers_.retry(request, due, now_)) {
      schedule(now_ + *pause, EventKind::resend, request);
      return;
    }
  }
  if (request.call.was_refused) proxy_->failed(request);
  const bool was_open = connected == ServersModel::Connected::circuits_open;
  if (request.as_job)
    return end_job(request, was_open ? jobs::Cause::none : jobs::Cause::never_sent);
  fail(request, was_open ? Reason::circuit_open : Reason::upstream_unavailable);
}

// The proxy answers with an error, or defers a request that did not reach the backend.
void Run::fail(Request& request, Reason reason) {
  request.begun = now_;
  const bool is_answered = proxy_->answers_error(request, now_);
  const bool is_deferred = !is_answered && is_deferred_for(scenario_, request, reason);
  if (is_deferred) proxy_->end(request, now_);
  if (is_deferred && defer(request)) return start_waiting();
  is_answered ? recorder_.served(request, now_) : recorder_.failed(request, now_);
  if (!request.call.lingers) proxy_->end(request, now_);
  is_answered ? leave(request) : lose(request, Duration{0});
  start_waiting();
}

// The backend does not know, and goes on. The request keeps its slot meanwhile, for some time.
void Run::time_out(Request& request) {
  if (!request.client_waits) return;
  request.timed_out = true;
  servers_.end(request, resilience::CallResult::failure, now_);
  proxy_->failed(request);
  const bool has_slot = proxy_->outlast(request, now_);
  if (request.as_job) return end_job(request, jobs::Cause::unanswered);
  if (has_slot && servers_.linger(request, now_))
    schedule(now_ + dispatch::hold_past_timeout(upstream_.response_timeout), EventKind::slot_due,
             request);
  fail(request, Reason::none);
}

// The request loses its slot, though the backend is still working on it.
void Run::take_slot(Request& request) {
  servers_.end_abandoned(request);
  request.timed_out ? proxy_->end(request, now_) : proxy_->end_unanswered(request, now_);
  start_waiting();
}

void Run::work_in_backend() {
  while (const auto begun = backend_.begin_next()) {
    begun->request->begun = now_;
    schedule(now_ + begun->takes, EventKind::completion, *begun->request);
  }
}

void Run::complete(Request& request) {
  if (request.as_job) return complete_job(request);
  backend_.finish(request);
  request.in_backend = false;
  const bool is_awaited = request.client_waits;
  bool is_answered = true;  // or its client has left
  if (is_awaited) {
    if (proxy_) proxy_->answered(request, now_);
    is_answered = !request.fails || (proxy_ && proxy_->answers_error(request, now_));
    is_answered ? recorder_.served(request, now_) : recorder_.failed(request, now_);
    using resilience::CallResult;
    servers_.end(request, request.fails ? CallResult::failure : CallResult::success, now_);
  } else if (!request.timed_out) {
    recorder_.late(request, now_);
  }
  work_in_backend();
  servers_.end_abandoned(request);
  if (proxy_)
    is_awaited || request.timed_out ? proxy_->end(request, now_)
                                    : proxy_->end_abandoned(request, now_);
  is_answered ? leave(request) : lose(request, Duration{0});
  if (proxy_) start_waiting();
}

// The client leaves. The proxy frees its queue place at once, and its slot when the backend has
// finished the request, or should have.
void Run::give_up(Request& request) {
  if (!request.client_waits) return;
  if (proxy_ && !request.in_backend) {
    const bool is_queued = request.in_loop || proxy_->cancel(request, now_);
    is_queued ? recorder_.left(request) : recorder_.failed(request, now_);
  }
  servers_.end(request, resilience::CallResult::ignored, now_);
  if (proxy_) {
    const TimePoint until = request.in_backend ? proxy_->abandon(request, now_) : now_;
    if (until > now_) {
      servers_.keep(request);
      schedule(until, EventKind::slot_due, request);
    } else {
      proxy_->end(request, now_);
    }
  }
  lose(request, Duration{0});
  if (proxy_) start_waiting();
}

void Run::expire(Request& request) {
  if (request.as_job) {
    wait_for_spare_slot(request);
    return;
  }
  const bool is_deferred = is_deferred_for(scenario_, request, request.reason);
  const Duration retry_after = proxy_->expired(request, now_);
  if (is_deferred && defer(request)) return;
  recorder_.expired(request, now_);
  lose(request, is_deferred ? kStoreFull : retry_after);
}

// Its client has an answer and no longer waits.
void Run::leave(Request& request) {
  if (request.visitor != nullptr) end_page(request, true, Duration{0});
  depart(request);
}

void Run::depart(Request& request) {
  request.client_waits = false;
  if (!request.in_backend && !request.in_loop) pool_.release(request);
}

// The client got no answer and may retry; a retry is a new request.
void Run::lose(Request& request, Duration retry_after) {
  if (request.visitor != nullptr) {
    end_page(request, false, retry_after);
  } else if (const auto pause = clients_.pause_before_retry(request, retry_after)) {
    Request& again = pool_.acquire();
    ClientModel::repeat(request, again);
    schedule(now_ + *pause, EventKind::retry, again);
  }
  depart(request);
}

Recording simulate(const Scenario& scenario, bool shedding, const Progress& progress) {
  return Run(scenario, shedding, progress).run();
}

}  // namespace spillway::simulate
