#include "config/named_tenants.hpp"

#include <unordered_map>

namespace spillway::config {

std::vector<NamedTenant> named_tenants(const std::vector<ApiKey>& keys) {
  std::vector<NamedTenant> tenants;
  std::unordered_map<std::string, std::uint32_t> numbers;
  for (const ApiKey& key : keys) {
    const auto number = static_cast<std::uint32_t>(tenants.size());
    const auto [at, is_new] = numbers.emplace(tenant_of(key), number);
    if (is_new) {
      tenants.push_back({at->first, {}});
      tenants.back().tier.number = number;
    }
    Tier& tier = tenants[at->second].tier;
    if (key.traffic_class) tier.traffic_class = key.traffic_class;
    if (key.weight) tier.weight = *key.weight;
    if (key.tier) tier.waiting_tier = *key.tier;
    if (key.budget) tier.budget = key.budget;
  }
  return tenants;
}

std::string tenant_of(const ApiKey& key) { return key.name ? *key.name : key.tenant.value_or(""); }

std::optional<Sha256> digest_of(const ApiKey& key) {
  if (key.sha256) return parse_sha256(*key.sha256);
  if (key.key) return sha256(*key.key);
  return std::nullopt;
}

}  // namespace spillway::config
