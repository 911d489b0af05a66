// Records how the upstream ended a request, and whose request it was.
#pragma once

#include "proxy/exchange/request_context.hpp"
#include "resilience/failure_row.hpp"

namespace spillway::proxy {

// See SignalShard::record_result().
void record_result(const RequestContext& request, bool failed);

// Whose request it is, for the ejection of servers. All jobs are one client's.
resilience::FailureSource failure_source(const RequestContext& request);

}  // namespace spillway::proxy
