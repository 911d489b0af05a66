#include "proxy/deferral/job_follower.hpp"

#include <algorithm>

#include "proxy/deferral/store_question.hpp"
#include "proxy/jobs/job_queue.hpp"

namespace spillway::proxy {

namespace {

// For a job that another proxy may have in hand, or when the store has not answered.
constexpr Duration kLookAgain = std::chrono::seconds(1);

struct Look {
  bool is_answered = false;
  std::optional<jobs::JobView> job;  // nullopt although is_answered: there is no such job
};

Task<Look> look_at(Services& services, Parking& parking, jobs::JobId id) {
  StoreCall look{store::Find{.id = id, .job = std::nullopt}};
  const Execution execution = co_await execute(services, parking, look);
  if (execution != Execution::done) co_return Look{};
  co_return Look{true, std::move(look.as<store::Find>().job)};
}

bool is_over(const Services& services, TimePoint until, AtConnectionLimit at_limit) {
  return services.now() >= until || services.draining ||
         (at_limit == AtConnectionLimit::gives_way && services.owner.needs_room());
}

enum class Client : std::uint8_t { is_there, gone };

// A drain of the worker, and the connection limit, are noticed within kLookAgain.
Task<Client> wait_for_change(const Services& services, Parking& parking, const JobWatch& watch,
                             TimePoint until, AtConnectionLimit at_limit) {
  while (!watch.delivered && !is_over(services, until, at_limit)) {
    const TimePoint due = std::min(until, services.now() + kLookAgain);
    const Wake wake = co_await parking.park({.deadline = due, .client_gone = true});
    if (wake == Wake::client_gone) co_return Client::gone;
  }
  co_return Client::is_there;
}

}  // namespace

Task<Followed> follow(Services& services, Parking& parking, jobs::JobId id,
                      std::optional<jobs::Progress> known, TimePoint until,
                      AtConnectionLimit at_limit) {
  using Status = Followed::Status;
  for (;;) {
    JobWatch watch;
    watch.id = id;
    watch.mailbox = &services.mailbox;
    watch.parking = &parking;
    services.jobs->watch(watch);  // before the look, so that no change is missed
    Look look = co_await look_at(services, parking, id);
    const bool is_forgotten = look.is_answered && !look.job;
    const bool has_changed = look.job && (!known || look.job->progress != *known);
    const bool looks_again = !look.is_answered || services.jobs->condition().is_shared();
    TimePoint again = looks_again ? std::min(until, services.now() + kLookAgain) : until;
    if (is_forgotten || has_changed) again = TimePoint{};
    const Client client = co_await wait_for_change(services, parking, watch, again, at_limit);
    const bool is_coming =
        !watch.delivered && services.jobs->unwatch(watch) == Withdrawal::too_late;
    while (is_coming && !watch.delivered) co_await parking.park({});
    if (is_forgotten) co_return Followed{Status::forgotten, std::nullopt};
    if (has_changed) co_return Followed{Status::changed, std::move(look.job)};
    if (client == Client::gone) co_return Followed{Status::client_gone, std::nullopt};
    if (is_over(services, until, at_limit)) co_return Followed{Status::unchanged, std::nullopt};
  }
}

}  // namespace spillway::proxy
