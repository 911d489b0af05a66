// Store calls whose results no request needs: dead letters, and Spillway's own requests.
#include <memory>
#include <utility>

#include "proxy/jobs/job_queue.hpp"

namespace spillway::proxy {

// Under the mutex.
bool JobQueue::has_place_for_letter(const std::string& route, std::uint64_t most) const {
  std::uint64_t dead = 0;
  for (const store::Totals::Route& known : seen_.totals.routes)
    if (known.route == route) dead = known.by_state[index(jobs::JobState::dead)];
  const auto since = buried_.find(route);
  if (since != buried_.end()) dead += since->second;
  return dead < most;
}

bool JobQueue::may_bury(const std::string& route, std::uint64_t most) const {
  const std::lock_guard lock(mutex_);
  return calls_.has_room_for_letter() && has_place_for_letter(route, most);
}

JobQueue::Buried JobQueue::bury(jobs::NewJob job, jobs::Cause cause, std::uint64_t most,
                                std::function<void()> written) {
  const std::string route = job.lane.route;
  const auto call = std::make_shared<StoreCall>(store::Bury{std::move(job), cause});
  // The call keeps itself alive until it is done.
  call->done = [this, self = call, written = std::move(written)] {
    if (self->failure) {
      counts_.lost(observe::LostLetter::store);
      return;
    }
    ++counts_.dead[index(self->as<store::Bury>().cause)];
    written();
  };
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    Buried how = Buried::taken;
    if (told_.to_stop || !is_available())
      how = Buried::unavailable;
    else if (!has_place_for_letter(route, most) || !calls_.add(*call))
      how = Buried::full;
    if (how != Buried::taken) {
      call->done = nullptr;
      return how;
    }
    ++buried_[route];
    wakes = is_to_wake();
  }
  if (wakes) bell_.ring();
  return Buried::taken;
}

std::size_t JobQueue::room_for_notices() const {
  if (!is_available() || is_full()) return 0;
  const std::lock_guard lock(mutex_);
  return told_.to_stop ? 0 : calls_.room_for_notices();
}

bool JobQueue::post(jobs::NewJob job, std::uint64_t max_pending,
                    std::function<void(bool)> written) {
  const auto call = std::make_shared<StoreCall>(
      store::Enqueue{.job = std::move(job), .max_pending = max_pending});
  call->is_notice = true;
  // The call keeps itself alive until it is done.
  call->done = [this, self = call, written = std::move(written)] {
    const bool is_written =
        !self->failure && self->as<store::Enqueue>().result == store::Enqueue::Result::accepted;
    if (is_written) {
      ++counts_.accepted;
      dispatcher_.posted(self->as<store::Enqueue>().job);
    }
    written(is_written);
  };
  if (submit(*call)) return true;
  call->done = nullptr;
  return false;
}

}  // namespace spillway::proxy
