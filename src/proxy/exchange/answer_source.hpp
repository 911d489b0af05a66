// Records how the upstream ended a request, and whose request it was.
#pragma once

#include "proxy/exchange/request_context.hpp"

namespace spillway::proxy {

// See SignalShard::record_result().
void record_result(const RequestContext& request, bool failed);

}  // namespace spillway::proxy
