// Reads the body of a response that no client waits for.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "proxy/call/upstream_call.hpp"
#include "proxy/net/parking.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/answer/fault.hpp"
#include "proxy/request/context/request_context.hpp"
#include "proxy/request/owner/services.hpp"

namespace spillway::proxy {

struct BackgroundRead {
  enum class Status : std::uint8_t {
    done,     // to its end
    refused,  // on_content wanted no more
    failed,   // with `fault`
  };
  Status status = Status::done;
  Fault fault;
};

enum class Wanted : std::uint8_t { more, nothing };
// Gets a piece of the body, without framing.
using OnContent = std::function<Wanted(std::string_view)>;

// Reads the body of the response whose head `call` has read.
Task<BackgroundRead> read_in_background(Parking& parking, const RequestContext& request,
                                        UpstreamCall& call, const OnContent& on_content);
// Instead, for a body that is not wanted: reads until then, so that the connection can be reused.
// True: the body is complete. If it is not, that is held against no server.
Task<bool> read_rest_until(Parking& parking, const RequestContext& request, UpstreamCall& call,
                           TimePoint until);
// After read_in_background() has failed: if the body has stalled, reads the rest of it, for as long
// as the request would keep its slot if it were abandoned. True: the body is complete. The failure
// has been reported to the call, and stands.
Task<bool> read_late_rest(Services& services, Parking& parking, const RequestContext& request,
                          UpstreamCall& call, const OnContent& on_content);

}  // namespace spillway::proxy
