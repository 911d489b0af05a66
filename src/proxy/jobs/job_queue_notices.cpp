// Spillway's own requests, which nobody waits for.
#include <memory>
#include <utility>

#include "proxy/jobs/job_queue.hpp"

namespace spillway::proxy {

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
  // It holds itself until it is done.
  call->done = [this, self = call, written = std::move(written)] {
    const bool is_written =
        !self->failure && self->as<store::Enqueue>().result == store::Enqueue::Result::accepted;
    if (is_written) {
      ++counts_.accepted;
      dispatcher_.tell(self->as<store::Enqueue>().id, jobs::JobState::queued, jobs::Cause::none);
    }
    written(is_written);
  };
  if (submit(*call)) return true;
  call->done = nullptr;
  return false;
}

}  // namespace spillway::proxy
