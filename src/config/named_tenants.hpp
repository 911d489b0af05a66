// The tenants named by tenants.api_keys, each once, with its tier as all its keys together define
// it. They are ordered by each one's first key; the index in this order is the tenant's number.
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
  std::optional<ClassId> traffic_class;  // instead of the route's
  double weight = 1;
  std::string waiting_tier;  // empty: the lowest
  std::optional<Budget> budget;
};

struct NamedTenant {
  std::string name;
  Tier tier;
};

std::vector<NamedTenant> named_tenants(const std::vector<ApiKey>& keys);

// The key's tenant; empty for a key without a name, which no valid configuration has.
std::string tenant_of(const ApiKey& key);

// The digest of the key, whichever way it is given; nullopt if neither is valid.
std::optional<Sha256> digest_of(const ApiKey& key);

}  // namespace spillway::config
