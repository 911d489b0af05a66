// Records how the upstream ended a request, and whose request it was.
#pragma once

#include <optional>

#include "proxy/exchange/request_context.hpp"
#include "resilience/failure_row.hpp"

namespace spillway::proxy {

// See SignalShard::record_result().
void record_result(const RequestContext& request, bool failed);

// Whose request it is, for the ejection of servers. All jobs are one client's.
resilience::FailureSource failure_source(const RequestContext& request);

// Likewise, where there was no response. nullopt: a job, or a trusted peer that names no client.
// They stand for many, so that the failure is the server's own: else one that hangs is ejected late
// where nobody else asks it.
std::optional<resilience::FailureSource> silence_source(const RequestContext& request);

}  // namespace spillway::proxy
