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
    failed,   // the fault
  };
  Status status = Status::done;
  Fault fault;
};

enum class Wanted : std::uint8_t { more, nothing };
// Gets a piece of the body, without framing.
using OnContent = std::function<Wanted(std::string_view)>;

// The body of the response whose head `call` has read.
Task<BackgroundRead> read_in_background(Parking& parking, const RequestContext& request,
                                        UpstreamCall& call, const OnContent& on_content);
// In place of that, of a response whose body is not wanted: what comes of it until then, so that
// its connection can be used again. True: it is whole. Else that is held against no server.
Task<bool> read_rest_until(Parking& parking, const RequestContext& request, UpstreamCall& call,
                           TimePoint until);
// After a read_in_background() that has failed: if the body has stalled, the rest of it, for as
// long as the request would keep its slot as an abandoned one. True: it is whole. The call has been
// told of the failure, which stands.
Task<bool> read_late_rest(Services& services, Parking& parking, const RequestContext& request,
                          UpstreamCall& call, const OnContent& on_content);

}  // namespace spillway::proxy
