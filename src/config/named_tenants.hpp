// The tenants that tenants.api_keys name, each once, with its tier: what all its keys together say.
// Their order is that of each one's first key; the place in it is the tenant's number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/sha256.hpp"
#include "config/config.hpp"

namespace spillway::config {

struct Tier {
  static constexpr std::uint32_t kNoNumber = ~std::uint32_t{0};

  std::uint32_t number = kNoNumber;      // of its tenant
  std::optional<ClassId> traffic_class;  // in place of the route's
  double weight = 1;
  std::string waiting_tier;  // empty: the lowest
  std::optional<Budget> budget;
};

struct NamedTenant {
  std::string name;
  Tier tier;
};

std::vector<NamedTenant> named_tenants(const std::vector<ApiKey>& keys);

// Whose key it is; empty for a key without a name, which no valid configuration has.
std::string tenant_of(const ApiKey& key);

// The digest of the key, whichever way it is given; nullopt if it is not.
std::optional<Sha256> digest_of(const ApiKey& key);

}  // namespace spillway::config
