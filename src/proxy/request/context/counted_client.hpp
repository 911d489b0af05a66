// The client against whose share of a common limit a request counts: buffered bytes, tunnels and
// event streams, jobs.
#pragma once

#include <optional>

#include "base/ip_address.hpp"
#include "proxy/request/context/request_context.hpp"

namespace spillway::proxy {

// The client's address, also if a trusted peer forwards for it. nullopt: the trusted peer names no
// client. It stands for many, so the share of one client does not bound it.
std::optional<IpAddress> counted_client(const RequestContext& request);

}  // namespace spillway::proxy
