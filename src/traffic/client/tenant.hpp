// The tenant of a request: the unit of fairness and quotas.
//
// The threat: a client that may name its tenant uses another's share, or a new one each time. So
// an API key counts only when it is configured, a header only from a trusted peer, and an IPv6
// client is its whole /64.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.hpp"
#include "base/sha256.hpp"
#include "base/sip_hash.hpp"
#include "config/config.hpp"
#include "config/named_tenants.hpp"
#include "http/message/head.hpp"
#include "traffic/client/client_address.hpp"
#include "traffic/client/peers.hpp"

namespace spillway::traffic {

class Tenant {
 public:
  // The tenant without a name: of requests that have none of the configured keys.
  Tenant() = default;
  Tenant(config::TenantKey from, TenantId its_id, std::string_view name,
         const config::Tier& its_tier = kNoTier)
      : source(from), id(its_id), tier(&its_tier), name_(name) {}
  Tenant(TenantId its_id, const IpAddress& client_network)
      : source(config::TenantKey::client_address),
        id(its_id),
        network_(client_network, kOfClient) {}

  // For logs and pages: the configured name of the API key's tenant, the trusted header's value (a
  // view of the head, to be read while that lasts) or the client's network.
  std::string_view value() const { return name_.empty() ? network_.text() : name_; }

  config::TenantKey source = config::TenantKey::client_address;
  TenantId id{};                        // keyed hash of source and value
  const config::Tier* tier = &kNoTier;  // of an API key's tenant; of the resolver

 private:
  static inline const config::Tier kNoTier{};

  std::string_view name_;
  NetworkText network_;
};

// The facts about a connection's peer that its requests' tenants and classes depend on. Computed
// once per connection.
struct Peer {
  IpAddress address;
  bool trusted = false;
  Tenant tenant;  // of its requests that have no better key
};

// Finds the tenant of a request. Immutable, shared by threads; a look-up does not allocate.
class TenantResolver {
 public:
  // Keeps a reference to `trusted`. Without knowing the seed it is infeasible to find two values
  // with the same TenantId.
  TenantResolver(const config::Config& config, const TrustedPeers& trusted, std::uint64_t seed);

  Peer peer(const IpAddress& address) const;

  // The first configured source that has a tenant for the request:
  // * api_key: the SHA-256 of `X-Api-Key` is that of one of tenants.api_keys; then the tenant is
  // the
  //   one named there.
  // * trusted_header: the field of that name, of a trusted peer.
  // * client_address: the peer, or the client behind it (client_behind) when it is trusted.
  // A field that is empty, repeated (SoleFields) or longer than 256 bytes counts as absent.
  Tenant resolve(const http::RequestHead& head, const Peer& peer) const;

  // Whether X-Api-Key has a comma and is no key as a whole: two that a proxy has joined (RFC 9110
  // section 5.3), of which a backend may take one. SoleFields has those that are not joined.
  bool has_joined_keys(const http::RequestHead& head) const;

 private:
  struct Owner {
    config::NamedTenant tenant;
    TenantId id{};
  };
  // The keys themselves are not kept. Where a digest is in the table says nothing about the key,
  // and digests are compared in constant time.
  struct SameDigest {
    bool operator()(const Sha256& one, const Sha256& other) const {
      return equal_in_constant_time(one, other);
    }
  };
  using ApiKeys = std::unordered_map<Sha256, std::uint32_t, HashOfSha256, SameDigest>;

  const Owner* owner_of(std::string_view key) const;  // null: no tenant's
  TenantId id_of(config::TenantKey source, std::string_view value) const;
  Tenant tenant_at(const IpAddress& address) const;

  std::vector<config::TenantKey> order_;
  std::string trusted_header_;  // empty: none
  const TrustedPeers& trusted_;
  bool believes_keys_;
  std::array<SipKey, 3> id_keys_;  // by TenantKey
  std::vector<Owner> owners_;      // by number
  ApiKeys api_keys_;               // whose key it is
};

// Whether a key in X-Api-Key can say whose a request is.
bool believes_api_keys(const config::Config& config);

// The value of the one field of that name; empty when there is none, when it is longer than
// 256 bytes, and when there are several: then it is unclear which of them the backend believes.
std::string_view only_value(const http::FieldList& fields, std::string_view name);

}  // namespace spillway::traffic
