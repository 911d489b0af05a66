// Rate limit per client address: for tickets, so that no client fills the line with its own; for
// bad signatures, which take time to detect. Many clients may share an address, for instance on a
// campus: so kSeconds' worth may come at once, and a visitor that was refused a ticket keeps its
// stamp, which keeps its place. Thread-safe, without a lock.
#pragma once

#include "base/ip_address.hpp"
#include "proxy/waiting/hashed_buckets.hpp"
#include "traffic/client/client_address.hpp"

namespace spillway::proxy {

class AddressLimit {
 public:
  static constexpr double kSeconds = 10;

  explicit AddressLimit(SipKey key) : buckets_(key) {}

  bool take(const IpAddress& client, double per_second, TimePoint now) {
    return of(client).try_take(per_second, per_second * kSeconds, now);
  }
  // Gives back a token that was not needed after all.
  void give_back(const IpAddress& client, double per_second) { of(client).give_back(per_second); }

 private:
  resilience::TokenBucket& of(const IpAddress& client) {
    const IpAddress network = traffic::client_network(client);
    return buckets_.of({reinterpret_cast<const char*>(network.bytes.data()), network.bytes.size()});
  }

  HashedBuckets buckets_;
};

}  // namespace spillway::proxy
