// Records how the upstream ended a request, and from which client and path the request came.
#pragma once

#include <optional>

#include "proxy/request/context/request_context.hpp"
#include "resilience/failure_row.hpp"

namespace spillway::proxy {

// See SignalShard::record_result().
void record_result(const RequestContext& request, bool failed);

// For a failed request: there was no response in time.
void record_timeout(const RequestContext& request);

// The source of the request, for the ejection of servers. All jobs count as one client.
resilience::FailureSource failure_source(const RequestContext& request);

// The same for a request that got no response. nullopt: the failure counts as the server's own, as
// for jobs and for trusted peers that name no client, since each of these stands for many clients.
// Without this rule a server that hangs would be ejected late if no other client sends requests.
std::optional<resilience::FailureSource> silence_source(const RequestContext& request);

}  // namespace spillway::proxy
