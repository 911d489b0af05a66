// The changes of a job's state as server-sent events (WHATWG HTML section 9.2).
#include <algorithm>
#include <string>

#include "proxy/deferral/job_follower.hpp"
#include "proxy/deferral/job_resource.hpp"
#include "proxy/request/admission/long_lived.hpp"

namespace spillway::proxy {

namespace {

constexpr Duration kKeepAlive = std::chrono::seconds(15);
// A stream keeps its configuration from being released.
constexpr Duration kLongestStream = std::chrono::minutes(10);

}  // namespace

Task<std::optional<Fault>> JobResource::send_events(ClientSession& session, Admission& admission) {
  TunnelPermit permit;
  if (auto none = begin_own_events(services_, request_, admission, session, permit)) co_return none;
  std::optional<Fault> fault = co_await tell_progress(session);
  permit.end(end_of_own_events(services_));
  co_return fault;
}

Task<std::optional<Fault>> JobResource::tell_progress(ClientSession& session) {
  const TimePoint until = services_.now() + kLongestStream;
  std::optional<jobs::Progress> shown;
  while (services_.now() < until && !services_.draining) {
    const TimePoint due = std::min(until, services_.now() + kKeepAlive);
    const Followed next =
        co_await follow(services_, parking_, followed_, shown, due, AtConnectionLimit::stays);
    if (next.status == Followed::Status::forgotten) break;
    if (next.status == Followed::Status::client_gone) co_return client_gone();
    std::string event = ":\n\n";  // a comment keeps the connection alive
    if (next.job) {
      shown = next.job->progress;
      event = "event: " + std::string(jobs::name(shown->state)) + "\ndata: " + describe(*next.job) +
              "\n";
    }
    const bool sent = co_await send_to_client(parking_, session, event);
    if (!sent) co_return client_gone();
    if (shown && jobs::has_ended(shown->state)) break;
  }
  co_return std::nullopt;
}

}  // namespace spillway::proxy
