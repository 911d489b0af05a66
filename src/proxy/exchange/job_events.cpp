// The changes of a job's state as server-sent events (WHATWG HTML section 9.2).
#include <algorithm>
#include <string>

#include "proxy/exchange/job_follower.hpp"
#include "proxy/exchange/job_resource.hpp"
#include "proxy/exchange/long_lived.hpp"

namespace spillway::proxy {

namespace {

constexpr Duration kKeepAlive = std::chrono::seconds(15);
// It keeps a configuration from being cleared away.
constexpr Duration kLongestStream = std::chrono::minutes(10);

}  // namespace

Task<std::optional<Fault>> JobResource::send_events(ClientSession& session, Admission& admission) {
  TunnelPermit permit;
  const auto kind = observe::TunnelKind::event_stream;
  if (auto none = take_permit(services_, request_, admission, kind, permit)) co_return none;
  const http::FallbackHead head{.status = 200,
                                .lines = "Cache-Control: no-store\r\n",
                                .content_type = "text/event-stream",
                                .content_length = std::nullopt,
                                .is_final = true};
  http::ForwardedResponse with{.request_id = request_.id(services_.random)};
  with.date = services_.wall_clock.date();
  if (!session.start_fallback(head, with)) co_return head_too_large();
  permit.open();
  std::optional<Fault> fault = co_await tell_progress(session);
  permit.end(services_.draining ? observe::TunnelEnd::stopped : observe::TunnelEnd::finished);
  co_return fault;
}

Task<std::optional<Fault>> JobResource::tell_progress(ClientSession& session) {
  const TimePoint until = services_.now() + kLongestStream;
  std::optional<jobs::Progress> shown;
  while (services_.now() < until && !services_.draining) {
    const TimePoint due = std::min(until, services_.now() + kKeepAlive);
    const Followed next = co_await follow(services_, parking_, followed_, shown, due);
    if (next.status == Followed::Status::lost) break;
    if (next.status == Followed::Status::client_gone) co_return client_gone();
    std::string event = ":\n\n";  // a comment, which keeps the connection alive
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
