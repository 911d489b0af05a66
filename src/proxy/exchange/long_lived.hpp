// Responses that stay open: a connection that switches to another protocol (a tunnel from then on),
// and event streams. Admission holds for both as for any request. They give their slot back at the
// head, leave the upstream's connection budget, and say nothing about latency; limits.tunnels
// bounds their number. The request ends with the head, in metrics and log too, and what goes on
// keeps to no configuration.
#pragma once

#include <optional>
#include <string_view>

#include "http/head.hpp"
#include "observe/tunnel_use.hpp"
#include "proxy/exchange/admission.hpp"
#include "proxy/exchange/fault.hpp"
#include "proxy/exchange/request_context.hpp"
#include "proxy/exchange/services.hpp"
#include "proxy/exchange/tunnel_permit.hpp"

namespace spillway::proxy {

// text/event-stream (WHATWG HTML, server-sent events), in answer to a GET.
bool is_event_stream(const http::RequestHead& request, const http::ResponseHead& response);

// Until the head is there nothing tells how long it may take: a backend may hold a stream's head
// back until its first event.
bool expects_long_response(const http::RequestHead& request, std::string_view upgrade);

// Takes one of limits.tunnels for `permit`. A fault when there is none left, or the proxy drains.
std::optional<Fault> take_permit(Services& services, const RequestContext& request,
                                 Admission& admission, observe::TunnelKind kind,
                                 TunnelPermit& permit);

}  // namespace spillway::proxy
