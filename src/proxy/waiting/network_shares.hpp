// Which part of a line is of which network, so that no network fills it: as long as it is the only
// one with many places it may have `share` of them, two such a third each (at a half), and there is
// always room for one with none (Choudhury and Hahne, Dynamic Queue Length Thresholds for
// Shared-Memory Packet Switches: a queue may grow while it is shorter than a multiple of what is
// free).
//
// No ticket says of which network it is. The parts are estimated: tickets are counted as they are
// made, and as the line gets shorter all networks' parts do, alike. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/ip_address.hpp"
#include "base/sip_hash.hpp"
#include "waiting/room/view.hpp"

namespace spillway::proxy {

class NetworkShares {
 public:
  // So many places a network may have in any case: a family, or an office in a small line.
  static constexpr double kFew = 10;

  // The key keeps clients from finding networks that share a counter with others.
  explicit NetworkShares(SipKey key) : key_(key), rows_(2 * kCounters) {}

  // Whether the network of a visitor that shows its address may have one more ticket. `tickets`: in
  // line now; `space`: of the part of the line where it would wait. In a full line a network may
  // have a few tickets only.
  bool may_have_more(const IpAddress& client, std::size_t tickets, const waiting::Space& space,
                     double share);
  // It has one more; `tickets` without it.
  void add(const IpAddress& client, std::size_t tickets);
  // Likewise one that counts for no network.
  void add_to_none(std::size_t tickets);

 private:
  // A network has two counters and shares each with others: the smaller one is the better estimate.
  // Only one network in millions shares both with a crowd.
  static constexpr std::size_t kCounters = 4096;

  using Places = std::array<std::size_t, 2>;
  Places places_of(const IpAddress& client) const;
  void follow(std::size_t tickets);

  const SipKey key_;
  std::vector<float> rows_;  // times `unit_` tickets
  double sum_ = 0;           // of one row
  double unit_ = 1;
};

// Of an IPv4 address its /24, of an IPv6 one its /48: what one customer of a provider has at most.
IpAddress place_network(const IpAddress& client);
// Loopback, private, link-local and shared addresses say nothing: many visitors come by one if they
// are those of a proxy that is not among the trusted peers.
bool says_who(const IpAddress& client);

}  // namespace spillway::proxy
