// The tenant of a request: the unit of fairness and quotas.
//
// The threat: a client that can choose its tenant uses another tenant's share, or a new one for
// each request. So an API key counts only if it is configured, a header only from a trusted peer,
// and an IPv6 client is its whole /64.
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
  // The tenant without a name: for requests with none of the configured keys.
  Tenant() = default;
  Tenant(config::TenantKey from, TenantId its_id, std::string_view name,
         const config::Tier& its_tier = kNoTier)
      : source(from), id(its_id), tier(&its_tier), name_(name) {}
  Tenant(TenantId its_id, const IpAddress& client_network)
      : source(config::TenantKey::client_address),
        id(its_id),
        network_(client_network, kOfClient) {}

  // For logs and pages: the configured name of the API key's tenant, the trusted header's value (a
  // view of the head, valid as long as the head) or the client's network.
  std::string_view value() const { return name_.empty() ? network_.text() : name_; }

  config::TenantKey source = config::TenantKey::client_address;
  TenantId id{};                        // keyed hash of source and value
  const config::Tier* tier = &kNoTier;  // the API key tenant's tier, owned by the resolver

 private:
  static inline const config::Tier kNoTier{};

  std::string_view name_;
  NetworkText network_;
};

// The facts about a connection's peer that the tenants and classes of its requests depend on.
// Computed once per connection.
struct Peer {
  IpAddress address;
  bool trusted = false;
  Tenant tenant;  // for requests without a better key
};

// Finds the tenant of a request. Immutable, shared by threads; a look-up does not allocate.
class TenantResolver {
 public:
  // Keeps a reference to `trusted`. Without knowing the seed it is infeasible to find two values
  // with the same TenantId.
  TenantResolver(const config::Config& config, const TrustedPeers& trusted, std::uint64_t seed);

  Peer peer(const IpAddress& address) const;

  // The first configured source that yields a tenant for the request:
  // * api_key: the SHA-256 of `X-Api-Key` equals
  //   that of a key in tenants.api_keys;
  //   then the tenant is the one named there.
  // * trusted_header: the field of that name, from a trusted peer.
  // * client_address: the peer, or the client behind it (client_behind) if the peer is trusted.
  // A field that is empty, repeated (SoleFields) or longer than 256 bytes counts as absent.
  Tenant resolve(const http::RequestHead& head, const Peer& peer) const;

  // Whether X-Api-Key has a comma and is not a key as a whole: two fields that a proxy has joined
  // (RFC 9110 section 5.3), and a backend may use either. SoleFields detects unjoined ones.
  bool has_joined_keys(const http::RequestHead& head) const;

 private:
  struct Owner {
    config::NamedTenant tenant;
    TenantId id{};
  };
  // The keys themselves are not kept. A digest's position in the table reveals nothing about the
  // key, and digests are compared in constant time.
  struct SameDigest {
    bool operator()(const Sha256& one, const Sha256& other) const {
      return equal_in_constant_time(one, other);
    }
  };
  using ApiKeys = std::unordered_map<Sha256, std::uint32_t, HashOfSha256, SameDigest>;

  const Owner* owner_of(std::string_view key) const;  // null: of no tenant
  TenantId id_of(config::TenantKey source, std::string_view value) const;
  Tenant tenant_at(const IpAddress& address) const;

  std::vector<config::TenantKey> order_;
  std::string trusted_header_;  // empty: none
  const TrustedPeers& trusted_;
  bool believes_keys_;
  std::array<SipKey, 3> id_keys_;  // by TenantKey
  std::vector<Owner> owners_;      // by number
  ApiKeys api_keys_;               // key digest -> index in owners_
};

// Whether an API key in X-Api-Key may identify the tenant of a request.
bool believes_api_keys(const config::Config& config);

// The value of the only field of that name; empty if there is none, if it is longer than 256 bytes,
// or if there are several: then it is unclear which of them the backend uses.
std::string_view only_value(const http::FieldList& fields, std::string_view name);

}  // namespace spillway::traffic
