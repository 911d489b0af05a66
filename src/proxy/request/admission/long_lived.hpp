// Responses that stay open: protocol switches (tunnels) and event streams. They are admitted like
// any request. With the response's head they free their slot and leave the upstream's connection
// budget; limits.tunnels bounds their number. Their request ends there, also in metrics and log,
// without a latency sample; the tunnel or stream is pinned to no generation.
#pragma once

#include <optional>
#include <string_view>

#include "http/message/head.hpp"
#include "observe/count/tunnel_use.hpp"
#include "proxy/request/admission/admission.hpp"
#include "proxy/request/answer/fault.hpp"
#include "proxy/request/client/client_session.hpp"
#include "proxy/request/context/request_context.hpp"
#include "proxy/request/owner/services.hpp"
#include "proxy/request/owner/tunnel_permit.hpp"

namespace spillway::proxy {

// text/event-stream (WHATWG HTML, server-sent events), in answer to a GET.
bool is_event_stream(http::Verb method, const http::ResponseHead& response);

// The time until the head is not latency: a backend may send the head only with the first event.
bool expects_long_response(const http::RequestHead& request, std::string_view upgrade);

// Takes a permit of limits.tunnels. Called before the upstream is asked for what
// expects_long_response(): otherwise the upstream would work on a response that is then refused. A
// fault if none is left, or none for this client, or the proxy drains.
std::optional<Fault> take_permit(Services& services, const RequestContext& request,
                                 Admission& admission, observe::TunnelKind kind,
                                 TunnelPermit& permit);

// The same, but only if the request expects a long response.
std::optional<Fault> reserve_permit(Services& services, const RequestContext& request,
                                    Admission& admission, TunnelPermit& permit);
// With the head of a response that is no protocol switch: only an event stream keeps the permit.
inline void keep_permit_if_stream(const RequestContext& request, const http::ResponseHead& response,
                                  TunnelPermit& permit) {
  const bool is_for_stream =
      permit && request.upgrade.empty() && is_event_stream(request.head.method, response);
  if (!is_for_stream) permit = {};
}

// Event streams of the proxy itself: takes a permit and begins the response, or returns the fault.
// The connection is broken once its client has taken nothing for 60 s.
std::optional<Fault> begin_own_events(Services& services, const RequestContext& request,
                                      Admission& admission, ClientSession& session,
                                      TunnelPermit& permit);
// How the end of such a stream is counted.
observe::TunnelEnd end_of_own_events(const Services& services);

}  // namespace spillway::proxy
