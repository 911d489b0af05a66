// Whose share of what all clients have together a request takes: bytes that wait, lasting
// connections, jobs.
#pragma once

#include <optional>

#include "base/ip_address.hpp"
#include "proxy/request/request_context.hpp"

namespace spillway::proxy {

// The client's address, behind trusted peers as well. nullopt: a trusted peer that names no client.
// It stands for all of its own.
std::optional<IpAddress> counted_client(const RequestContext& request);

}  // namespace spillway::proxy
