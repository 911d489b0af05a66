#include "proxy/exchange/job_follower.hpp"

#include <algorithm>

#include "proxy/jobs/job_queue.hpp"

namespace spillway::proxy {

namespace {

// At a job that another proxy may have.
constexpr Duration kLookAgain = std::chrono::seconds(1);

// nullopt: the store does not answer, or has no such job.
Task<std::optional<jobs::JobView>> look_at(Services& services, Parking& parking, jobs::JobId id) {
  StoreCall look{store::Find{.id = id, .job = std::nullopt}};
  look.home = &services.mailbox;
  look.parking = &parking;
  if (!services.jobs->submit(look)) co_return std::nullopt;
  while (!look.delivered) co_await parking.park({});
  if (look.failure) co_return std::nullopt;
  co_return std::move(look.as<store::Find>().job);
}

}  // namespace

Task<Followed> follow(Services& services, Parking& parking, jobs::JobId id,
                      std::optional<jobs::Progress> known, TimePoint until) {
  using Status = Followed::Status;
  for (;;) {
    JobWatch watch;
    watch.id = id;
    watch.home = &services.mailbox;
    watch.parking = &parking;
    services.jobs->watch(watch);  // before the look, so that no change is missed
    std::optional<jobs::JobView> job = co_await look_at(services, parking, id);
    const bool has_changed = job && (!known || job->progress != *known);
    const TimePoint again = std::min(until, services.now() + kLookAgain);
    bool is_gone = false;
    while (job && !has_changed && !is_gone && !watch.delivered && services.now() < again) {
      const Wake wake = co_await parking.park({.deadline = again, .client_gone = true});
      is_gone = wake == Wake::client_gone;
    }
    const bool is_coming = !watch.delivered && !services.jobs->unwatch(watch);
    while (is_coming && !watch.delivered) co_await parking.park({});
    if (!job) co_return Followed{Status::lost, std::nullopt};
    if (has_changed) co_return Followed{Status::changed, std::move(job)};
    if (is_gone) co_return Followed{Status::client_gone, std::nullopt};
    if (services.now() >= until || services.draining)
      co_return Followed{Status::unchanged, std::nullopt};
  }
}

}  // namespace spillway::proxy
