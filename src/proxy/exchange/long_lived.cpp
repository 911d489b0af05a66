#include "proxy/exchange/long_lived.hpp"

#include "http/ascii.hpp"

namespace spillway::proxy {

namespace {

bool is_event_stream_type(std::string_view type) {
  return http::iequals(http::trim(type.substr(0, type.find(';'))), "text/event-stream");
}

}  // namespace

bool is_event_stream(const http::RequestHead& request, const http::ResponseHead& response) {
  if (request.method != http::Verb::get || response.status != 200) return false;
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
  if (services.draining || !services.tunnel_permits.try_take(request.limits().tunnels)) {
    counts.asked[index(observe::TunnelResult::refused)].add();
    const Reason reason = services.draining ? Reason::draining : Reason::tunnel_limit;
    return no_tunnel(reason, admission.retry_after());
  }
  permit = TunnelPermit(services.tunnel_permits, counts);
  return std::nullopt;
}

}  // namespace spillway::proxy
