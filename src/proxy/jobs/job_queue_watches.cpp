// Requests that wait for a job to change.
#include <algorithm>

#include "proxy/jobs/job_queue.hpp"

namespace spillway::proxy {

void JobQueue::watch(JobWatch& watch) {
  const std::lock_guard lock(mutex_);
  watches_.emplace(watch.id, &watch);
}

Withdrawal JobQueue::unwatch(JobWatch& watch) {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = watches_.equal_range(watch.id);
  const auto found =
      std::find_if(first, last, [&](const auto& one) { return one.second == &watch; });
  if (found == last) return Withdrawal::too_late;
  watches_.erase(found);
  return Withdrawal::withdrawn;
}

// Under the mutex.
void JobQueue::notify(const jobs::JobId& id) {
  const auto [first, last] = watches_.equal_range(id);
  for (auto one = first; one != last; ++one) one->second->mailbox->deliver(*one->second);
  watches_.erase(first, last);
}

void JobQueue::notify(const store::Command& command) {
  if (watches_.empty()) return;
  if (const auto* const settle = std::get_if<store::Settle>(&command)) {
    if (!settle->is_lost) notify(settle->id);
  } else if (const auto* const cancel = std::get_if<store::Cancel>(&command)) {
    if (cancel->is_done) notify(cancel->id);
  } else if (const auto* const claim = std::get_if<store::Claim>(&command)) {
    for (const jobs::LeasedJob& job : claim->jobs) notify(job.id);
  } else if (const auto* const sweep = std::get_if<store::Sweep>(&command)) {
    for (const auto* const ids : {&sweep->expired, &sweep->recovered, &sweep->poisoned})
      for (const jobs::JobId& id : *ids) notify(id);
  } else if (const auto* const replay = std::get_if<store::Replay>(&command)) {
    if (replay->is_dry_run) return;
    for (const jobs::JobId& id : replay->jobs) notify(id);
  }
}

// Under the mutex. The store has failed: it is unknown whether it executed the calls nevertheless.
void JobQueue::notify_all() {
  for (const auto& [id, watch] : watches_) watch->mailbox->deliver(*watch);
  watches_.clear();
}

}  // namespace spillway::proxy
