// How much of something one client address may have a second: tickets, so that none fills the line
// with tickets of its own; signatures that are not good, which take time to find out. Many may
// share an address, a campus for instance: so it allows kSeconds' worth at once, and a visitor that
// was refused a ticket keeps its stamp, which gives it its place. Thread-safe, without a lock.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/ip_address.hpp"
#include "resilience/token_bucket.hpp"
#include "traffic/client_address.hpp"
#include "traffic/sip_hash.hpp"

namespace spillway::proxy {

class AddressLimit {
 public:
  static constexpr double kSeconds = 10;

  // The key keeps clients from finding addresses that share a place with others.
  explicit AddressLimit(traffic::SipKey key) : key_(key) {}

  bool take(const IpAddress& client, double per_second, TimePoint now) {
    return of(client).try_take(per_second, per_second * kSeconds, now);
  }
  // What was taken, and then not needed.
  void give_back(const IpAddress& client, double per_second) { of(client).give_back(per_second); }

 private:
  // Addresses that fall on the same place have it together.
  resilience::TokenBucket& of(const IpAddress& client) {
    const IpAddress network = traffic::client_network(client);
    const std::string_view bytes(reinterpret_cast<const char*>(network.bytes.data()),
                                 network.bytes.size());
    return places_[traffic::sip_hash(key_, bytes) % places_.size()];
  }

  const traffic::SipKey key_;
  std::array<resilience::TokenBucket, 4096> places_;  // 32 KiB
};

}  // namespace spillway::proxy
