#include "store/memory_jobs.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "jobs/life.hpp"
#include "jobs/tenant_quota.hpp"

namespace spillway::store {

using jobs::JobState;
using jobs::WallTime;

namespace {

std::uint64_t size_of(const jobs::StoredAnswer& answer) {
  return answer.fields.size() + answer.body.size();
}

}  // namespace

MemoryJobs::One* MemoryJobs::find(const jobs::JobId& id) {
  const auto found = ids_.find(id);
  return found == ids_.end() ? nullptr : &jobs_.at(found->second);
}

void MemoryJobs::enter(Seq seq, const One& one) {
  const JobState state = one.progress.state;
  ++routes_[one.job.lane.route][index(state)];
  if (waits(state)) expiring_.emplace(one.job.expires, seq);
  if (waits(state)) ++waiting_[one.tenant()];
  if (waits(state) && !one.is_blocked) claimable_[one.job.lane].emplace(one.progress.due, seq);
  if (state == JobState::leased) leased_[one.epoch].insert(seq);
  if (has_ended(state)) forgetting_.emplace(one.progress.ended + one.job.kept, seq);
  if (state == JobState::dead || state == JobState::expired) letters_.insert(seq);
  if (one.job.order && !has_ended(state)) ordered_[one.order()].insert(seq);
}

void MemoryJobs::leave(Seq seq, const One& one) {
  const JobState state = one.progress.state;
  --routes_[one.job.lane.route][index(state)];
  if (waits(state) && --waiting_[one.tenant()] == 0) waiting_.erase(one.tenant());
  expiring_.erase({one.job.expires, seq});
  forgetting_.erase({one.progress.ended + one.job.kept, seq});
  letters_.erase(seq);
  const auto lane = claimable_.find(one.job.lane);
  if (lane != claimable_.end()) {
    lane->second.erase({one.progress.due, seq});
    if (lane->second.empty()) claimable_.erase(lane);
  }
  const auto held = leased_.find(one.epoch);
  if (held != leased_.end()) {
    held->second.erase(seq);
    if (held->second.empty()) leased_.erase(held);
  }
  if (!one.job.order) return;
  const auto order = ordered_.find(one.order());
  if (order == ordered_.end()) return;
  order->second.erase(seq);
  if (order->second.empty()) ordered_.erase(order);
}

void MemoryJobs::change(Seq seq, One& one, const jobs::Progress& after) {
  const bool had_ended = has_ended(one.progress.state);
  const bool was_blocked = one.is_blocked;
  leave(seq, one);
  one.progress = after;
  if (after.state != JobState::leased) one.epoch = 0;
  const bool ends = has_ended(after.state);
  if (ends) one.is_blocked = false;
  if (had_ended && !ends && one.job.order) one.is_blocked = ordered_.count(one.order()) != 0;
  enter(seq, one);
  if (had_ended != ends) keep_key(one);
  if (ends && !had_ended && !was_blocked && one.job.order) unblock_next(one.order());
}

void MemoryJobs::keep_key(const One& one) {
  if (!one.job.idempotency) return;
  const auto found = keys_.find(one.job.idempotency->scope);
  if (found == keys_.end() || found->second.id != one.job.id) return;
  Key& key = found->second;
  old_keys_.erase({key.keep_until, found->first});
  key.keep_until = WallTime::max();
  if (!has_ended(one.progress.state)) return;
  using std::chrono::milliseconds;
  key.keep_until =
      one.progress.ended + std::max<milliseconds>(one.job.kept, std::chrono::hours(24));
  old_keys_.emplace(key.keep_until, found->first);
}

void MemoryJobs::unblock_next(const Order& order) {
  const auto found = ordered_.find(order);
  if (found == ordered_.end()) return;
  const Seq seq = *found->second.begin();
  One& next = jobs_.at(seq);
  if (!next.is_blocked) return;
  leave(seq, next);
  next.is_blocked = false;
  enter(seq, next);
}

void MemoryJobs::drop_answer(One& one) {
  if (one.answer) bytes_ -= size_of(*one.answer);
  one.answer.reset();
}

void MemoryJobs::remove(Seq seq) {
  const One& one = jobs_.at(seq);
  bytes_ -= one.content_bytes();
  leave(seq, one);
  ids_.erase(one.job.id);
  jobs_.erase(seq);
}

void MemoryJobs::turn_back(std::chrono::milliseconds by, WallTime now) {
  for (auto& [seq, one] : jobs_) {
    leave(seq, one);
    one.job.accepted = std::min(one.job.accepted, now);
    if (waits(one.progress.state) && one.progress.due > now) one.progress.due -= by;
    enter(seq, one);
  }
}

void MemoryJobs::execute(Join& command, WallTime) { command.epoch = registered_ = ++last_epoch_; }

void MemoryJobs::execute(Renew& command, WallTime) {
  command.is_lost = !is_registered(command.epoch);
}

void MemoryJobs::execute(Leave& command, WallTime now) {
  if (is_registered(command.epoch)) registered_ = 0;
  Release all{.epoch = command.epoch};
  execute(all, now);
}

void MemoryJobs::execute(Release& command, WallTime now) {
  const auto held = leased_.find(command.epoch);
  if (held == leased_.end()) return;
  const std::set<jobs::JobId> kept(command.kept.begin(), command.kept.end());
  const std::set<Seq> seqs = held->second;
  for (const Seq seq : seqs) {
    One& one = jobs_.at(seq);
    if (!kept.contains(one.job.id)) change(seq, one, jobs::given_back(one.progress, now));
  }
}

bool MemoryJobs::is_known(Enqueue& command) {
  const jobs::NewJob& job = command.job;
  if (find(job.id) != nullptr) return true;
  if (!job.idempotency) return false;
  const auto key = keys_.find(job.idempotency->scope);
  if (key == keys_.end()) return false;
  command.id = key->second.id;
  if (command.id == job.id) return true;
  command.result = key->second.fingerprint == job.idempotency->fingerprint
                       ? Enqueue::Result::duplicate
                       : Enqueue::Result::mismatch;
  return true;
}

void MemoryJobs::execute(Enqueue& command, WallTime) {
  const jobs::NewJob& job = command.job;
  command.id = job.id;
  command.result = Enqueue::Result::accepted;
  if (is_known(command)) return;
  const auto& states = routes_[job.lane.route];
  const std::uint64_t waiting = states[index(JobState::queued)] + states[index(JobState::retrying)];
  if (waiting >= command.max_pending) {
    command.result = Enqueue::Result::full;
    return;
  }
  const auto its = waiting_.find({job.lane.route, job.lane.tenant});
  if (command.is_in_share && its != waiting_.end() &&
      !jobs::tenant_has_room(its->second, waiting, command.max_pending)) {
    command.result = Enqueue::Result::share_full;
    return;
  }
  const Seq seq = ++last_seq_;
  One& one = jobs_[seq];
  one.job = job;
  one.progress.due = job.accepted;
  one.is_blocked = job.order && ordered_.count(one.order()) != 0;
  ids_[job.id] = seq;
  if (job.idempotency) keys_[job.idempotency->scope] = {job.idempotency->fingerprint, job.id};
  bytes_ += job.head.size() + job.body.size();
  enter(seq, one);
}

void MemoryJobs::execute(KnowsKey& command, WallTime) {
  command.is_known = keys_.contains(command.scope);
}

void MemoryJobs::execute(HasUnfinished& command, WallTime) {
  command.has_any = ordered_.contains({command.route, command.order});
}

void MemoryJobs::execute(Bury& command, WallTime now) {
  if (find(command.job.id) != nullptr) return;
  const Seq seq = ++last_seq_;
  One& one = jobs_[seq];
  one.job = command.job;
  one.job.idempotency.reset();
  one.progress = jobs::buried(command.job.accepted, command.cause, now);
  ids_[one.job.id] = seq;
  bytes_ += one.job.head.size() + one.job.body.size();
  enter(seq, one);
}

void MemoryJobs::execute(Lanes& command, WallTime now) {
  command.found.clear();
  command.next.reset();
  auto at = command.after ? claimable_.upper_bound(*command.after) : claimable_.begin();
  for (std::size_t n = 0; n < command.limit && at != claimable_.end(); ++n, ++at) {
    const WallTime due = at->second.begin()->first;
    if (due <= now + command.ahead) command.found.push_back({at->first, due});
  }
  if (at != claimable_.end() && at != claimable_.begin()) command.next = std::prev(at)->first;
}

void MemoryJobs::execute(Claim& command, WallTime now) {
  command.jobs.clear();
  command.is_cut = false;
  command.least_left.reset();
  const auto lane = claimable_.find(command.lane);
  if (lane == claimable_.end() || !is_registered(command.epoch)) return;
  std::vector<Seq> seqs;
  for (const auto& [due, seq] : lane->second) {
    if (due > now || seqs.size() == command.limit) break;
    command.is_cut = claimed_bytes_ >= kStepBytes;
    if (command.is_cut) break;
    const One& one = jobs_.at(seq);
    if (one.job.expires <= now) continue;
    const std::uint32_t recoveries = one.progress.recoveries;
    if (recoveries <= command.most_recoveries) {
      seqs.push_back(seq);
      claimed_bytes_ += one.content_bytes();
    } else {
      command.least_left = std::min(command.least_left.value_or(recoveries), recoveries);
    }
  }
  for (const Seq seq : seqs) {
    One& one = jobs_.at(seq);
    leave(seq, one);
    one.progress.state = JobState::leased;
    one.epoch = command.epoch;
    enter(seq, one);
    const jobs::NewJob& job = one.job;
    command.jobs.push_back({job.id, job.lane, job.tenant_name, job.accepted, job.expires,
                            one.progress, job.head, job.body, job.method, job.target});
  }
}

void MemoryJobs::execute(Settle& command, WallTime) {
  One* const one = find(command.id);
  command.is_lost = one == nullptr || one->progress.state != JobState::leased ||
                    one->epoch != command.epoch || command.progress.state == JobState::leased;
  if (command.is_lost) {
    const bool is_done =
        command.is_sent_again && one != nullptr && one->progress == command.progress;
    command.is_lost = !is_done;
    return;
  }
  if (command.attempt) keep(*one, *command.attempt);
  if (command.answer) {
    drop_answer(*one);
    one->answer = command.answer;
    bytes_ += size_of(*one->answer);
  }
  change(ids_.at(command.id), *one, command.progress);
}

void MemoryJobs::keep(One& one, const jobs::Attempt& attempt) {
  one.attempts.push_back(attempt);
  if (one.attempts.size() > kMostAttempts) one.attempts.erase(one.attempts.begin());
}

void MemoryJobs::execute(Cancel& command, WallTime now) {
  command.was.reset();
  command.is_done = false;
  One* const one = find(command.id);
  if (one == nullptr) return;
  command.was = one->progress.state;
  const auto after = jobs::cancelled(one->progress, command.cause, now);
  if (!after) return;
  change(ids_.at(command.id), *one, *after);
  command.is_done = true;
}

void MemoryJobs::execute(Sweep& command, WallTime now) {
  command.expired.clear();
  command.recovered.clear();
  command.poisoned.clear();
  command.forgotten = 0;
  command.has_more = false;
  while (!expiring_.empty() && expiring_.begin()->first <= now) {
    if (command.expired.size() == command.limit) {
      command.has_more = true;
      break;
    }
    const Seq seq = expiring_.begin()->second;
    One& one = jobs_.at(seq);
    command.expired.push_back(one.job.id);
    change(seq, one, *jobs::expired(one.progress, now));
  }
  recover(command, now);
  std::uint64_t bytes = 0;
  while (!forgetting_.empty() && forgetting_.begin()->first <= now) {
    if (command.forgotten == command.limit || bytes >= kStepBytes) {
      command.has_more = true;
      break;
    }
    const Seq seq = forgetting_.begin()->second;
    bytes += jobs_.at(seq).content_bytes();
    remove(seq);
    ++command.forgotten;
  }
  while (!old_keys_.empty() && old_keys_.begin()->first <= now) {
    keys_.erase(old_keys_.begin()->second);
    old_keys_.erase(old_keys_.begin());
  }
}

void MemoryJobs::recover(Sweep& command, WallTime now) {
  std::vector<Seq> seqs;
  for (const auto& [epoch, held] : leased_) {
    if (!is_registered(epoch)) seqs.insert(seqs.end(), held.begin(), held.end());
  }
  if (seqs.size() > command.limit) {
    seqs.resize(command.limit);
    command.has_more = true;
  }
  for (const Seq seq : seqs) {
    One& one = jobs_.at(seq);
    const jobs::Progress after = jobs::recovered(one.progress, command.most_recoveries, now);
    (has_ended(after.state) ? command.poisoned : command.recovered).push_back(one.job.id);
    change(seq, one, after);
    keep(one, jobs::cut_off(now));
  }
}

}  // namespace spillway::store
