#include "proxy/request/admission/long_lived.hpp"

#include "http/field/ascii.hpp"
#include "proxy/request/context/counted_client.hpp"

namespace spillway::proxy {

namespace {

// Events are sent at least every 15 s, so a client that has silently vanished is no longer counted
// 75 s later at the latest, and its visitor no longer counts as present. A phone that is offline
// for less than that keeps its stream.
constexpr Milliseconds kUntaken{60'000};

bool is_event_stream_type(std::string_view type) {
  return http::iequals(http::trim(type.substr(0, type.find(';'))), "text/event-stream");
}

}  // namespace

bool is_event_stream(http::Verb method, const http::ResponseHead& response) {
  if (method != http::Verb::get || response.status != 200) return false;
  const http::Field* const type = response.fields.find(http::FieldId::content_type);
  return type != nullptr && is_event_stream_type(type->value);
}

bool expects_long_response(const http::RequestHead& request, std::string_view upgrade) {
  if (!upgrade.empty()) return true;
  const http::Field* const accepts = request.fields.find(http::FieldId::accept);
  return accepts != nullptr && request.method == http::Verb::get &&
         is_event_stream_type(accepts->value);
}

std::optional<Fault> take_permit(Services& services, const RequestContext& request,
                                 Admission& admission, observe::TunnelKind kind,
                                 TunnelPermit& permit) {
  observe::TunnelCounts& counts = services.gauges.tunnels[index(kind)];
  TunnelPermits& permits = services.tunnel_permits;
  const std::optional<IpAddress> client = counted_client(request);
  TunnelPermits::Share* const its = client ? &permits.of(*client) : nullptr;
  if (services.draining || !permits.try_take(request.limits().tunnels, its)) {
    counts.asked[index(observe::TunnelResult::refused)].add();
    const Reason reason = services.draining ? Reason::draining : Reason::tunnel_limit;
    return no_tunnel(reason, admission.retry_after());
  }
  permit = TunnelPermit(permits, counts, its);
  return std::nullopt;
}

std::optional<Fault> reserve_permit(Services& services, const RequestContext& request,
                                    Admission& admission, TunnelPermit& permit) {
  if (!expects_long_response(request.head, request.upgrade)) return std::nullopt;
  const auto kind =
      request.upgrade.empty() ? observe::TunnelKind::event_stream : observe::TunnelKind::upgrade;
  return take_permit(services, request, admission, kind, permit);
}

std::optional<Fault> begin_own_events(Services& services, const RequestContext& request,
                                      Admission& admission, ClientSession& session,
                                      TunnelPermit& permit) {
  const auto kind = observe::TunnelKind::event_stream;
  if (auto none = take_permit(services, request, admission, kind, permit)) return none;
  const http::FallbackHead head{.status = 200,
                                .lines = "Cache-Control: no-store\r\n",
                                .content_type = "text/event-stream",
                                .content_length = std::nullopt,
                                .is_final = true};
  http::ForwardedResponse with{.request_id = request.id(services.random)};
  with.date = services.wall_clock.date();
  if (!session.start_fallback(head, with)) return response_too_large();
  session.give_up_after(kUntaken);
  permit.open();
  return std::nullopt;
}

observe::TunnelEnd end_of_own_events(const Services& services) {
  return services.draining ? observe::TunnelEnd::stopped : observe::TunnelEnd::finished;
}

}  // namespace spillway::proxy
