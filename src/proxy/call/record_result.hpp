// Records how the upstream ended a request, and whose request it was.
#pragma once

#include <optional>

#include "proxy/request/context/request_context.hpp"
#include "resilience/failure_row.hpp"

namespace spillway::proxy {

// See SignalShard::record_result().
void record_result(const RequestContext& request, bool failed);

// Of a failed one: there was no response in time.
void record_timeout(const RequestContext& request);

// Whose request it is, for the ejection of servers. All jobs are one client's.
resilience::FailureSource failure_source(const RequestContext& request);

// The same for a request that got no response. nullopt: the failure counts as the server's own, as
// for jobs and for trusted peers that name no client. Each of these stands for many clients.
// Without this rule a server that hangs would be ejected late where no other client sends requests.
std::optional<resilience::FailureSource> silence_source(const RequestContext& request);

}  // namespace spillway::proxy
