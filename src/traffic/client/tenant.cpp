#include "traffic/client/tenant.hpp"

#include <algorithm>
#include <utility>

#include "base/random.hpp"
#include "http/field/ascii.hpp"

namespace spillway::traffic {
namespace {

constexpr std::size_t kMaxValue = 256;
constexpr std::string_view kApiKey = "X-Api-Key";

SipKey draw_key(Random& random) {
  const std::uint64_t low = random.next();
  return {low, random.next()};
}

}  // namespace

std::string_view only_value(const http::FieldList& fields, std::string_view name) {
  std::string_view value;
  std::size_t found = 0;
  for (const http::Field& field : fields) {
    if (!http::iequals(field.name, name)) continue;
    value = field.value;
    ++found;
  }
  return found == 1 && value.size() <= kMaxValue ? value : std::string_view();
}

bool believes_api_keys(const config::Config& config) {
  return !config.tenants.api_keys.empty() &&
         std::ranges::find(config.tenants.key, config::TenantKey::api_key) !=
             config.tenants.key.end();
}

TenantResolver::TenantResolver(const config::Config& config, const TrustedPeers& trusted,
                               std::uint64_t seed)
    : order_(config.tenants.key),
      trusted_header_(config.trusted_headers.tenant),
      trusted_(trusted),
      believes_keys_(believes_api_keys(config)) {
  Random random(seed);
  for (SipKey& key : id_keys_) key = draw_key(random);
  const std::vector<config::ApiKey>& keys = config.tenants.api_keys;
  std::unordered_map<std::string, std::uint32_t> numbers;
  for (config::NamedTenant& tenant : config::named_tenants(keys)) {
    numbers.emplace(tenant.name, tenant.tier.number);
    const TenantId id = id_of(config::TenantKey::api_key, tenant.name);
    owners_.push_back({std::move(tenant), id});
  }
  api_keys_.reserve(keys.size());
  for (const config::ApiKey& one : keys) {
    const auto digest = config::digest_of(one);
    if (digest) api_keys_.emplace(*digest, numbers.at(config::tenant_of(one)));
  }
}

Peer TenantResolver::peer(const IpAddress& address) const {
  return {address, trusted_.contains(address), tenant_at(address)};
}

Tenant TenantResolver::resolve(const http::RequestHead& head, const Peer& peer) const {
  for (const config::TenantKey source : order_) {
    switch (source) {
      case config::TenantKey::api_key: {
        const Owner* const owner = owner_of(only_value(head.fields, kApiKey));
        if (owner == nullptr) break;
        return {source, owner->id, owner->tenant.name, owner->tenant.tier};
      }
      case config::TenantKey::trusted_header: {
        if (!peer.trusted || trusted_header_.empty()) break;
        const std::string_view value = only_value(head.fields, trusted_header_);
        if (value.empty()) break;
        return {source, id_of(source, value), value};
      }
      case config::TenantKey::client_address: {
        if (!peer.trusted) return peer.tenant;
        const IpAddress client = client_behind(peer.address, head.fields, trusted_);
        return client == peer.address ? peer.tenant : tenant_at(client);
      }
    }
  }
  return {};
}

const TenantResolver::Owner* TenantResolver::owner_of(std::string_view key) const {
  if (api_keys_.empty() || key.empty()) return nullptr;
  const auto found = api_keys_.find(sha256(key));
  return found == api_keys_.end() ? nullptr : &owners_[found->second];
}

bool TenantResolver::has_joined_keys(const http::RequestHead& head) const {
  if (!believes_keys_) return false;
  const http::Field* const field = head.fields.find(kApiKey);
  return field != nullptr && field->value.find(',') != std::string_view::npos &&
         owner_of(only_value(head.fields, kApiKey)) == nullptr;
}

TenantId TenantResolver::id_of(config::TenantKey source, std::string_view value) const {
  return TenantId{sip_hash(id_keys_[index(source)], value)};
}

Tenant TenantResolver::tenant_at(const IpAddress& address) const {
  const IpAddress network = client_network(address);
  const std::string_view bytes(reinterpret_cast<const char*>(network.bytes.data()),
                               network.bytes.size());
  return {id_of(config::TenantKey::client_address, bytes), network};
}

}  // namespace spillway::traffic
