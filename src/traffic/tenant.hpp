// On whose behalf a request comes: whom fairness and quotas count it against.
#pragma once

#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "http/head.hpp"

namespace spillway::traffic {

// Equal names from different sources are different tenants.
struct Tenant {
  config::TenantKey source = config::TenantKey::client_address;
  std::string_view value;  // a view of the head or of the client address

  friend bool operator==(const Tenant&, const Tenant&) = default;
};

// The first configured key that the request has: `X-Api-Key`, `X-Tenant` (believed only from a
// trusted peer) or the client's address. Without any, the tenant with the empty value. A key that
// is repeated or longer than 256 bytes counts as absent.
Tenant tenant_of(const http::RequestHead& head, const std::vector<config::TenantKey>& keys,
                 std::string_view client_address, bool trusted_peer);

}  // namespace spillway::traffic
