// Limits the part of a line that one network has, so that none fills it: the only network with many
// places may have `share` of the line, two such networks a third each (at a share of a half), and
// there is always room for a new one (Choudhury and Hahne, Dynamic Queue Length Thresholds for
// Shared-Memory Packet Switches: a queue may grow while it is shorter than a multiple of the free
// space).
//
// No ticket records its network. The parts are estimated: tickets are counted when they are made,
// and when the line gets shorter the counts of all networks shrink alike. Not thread-safe.
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
  // A network may have this many places in any case: for a family, or an office in a small line.
  static constexpr double kFew = 10;

  // The key keeps clients from finding networks that share a counter with others.
  explicit NetworkShares(SipKey key) : key_(key), rows_(2 * kCounters) {}

  // Whether the network of a visitor with a public address may have one more ticket. `tickets`: in
  // line now; `space`: of the part of the line where it would wait. In a full line a network may
  // have only a few tickets.
  bool may_have_more(const IpAddress& client, std::size_t tickets, const waiting::Space& space,
                     double share);
  // Counts one more ticket; `tickets` is without it.
  void add(const IpAddress& client, std::size_t tickets);
  // Counts a ticket that belongs to no network.
  void add_to_none(std::size_t tickets);

 private:
  // A network has two counters and shares each with others: the smaller one is the better estimate.
  // Only one network in millions shares both with a large one.
  static constexpr std::size_t kCounters = 4096;

  using Places = std::array<std::size_t, 2>;
  Places places_of(const IpAddress& client) const;
  void follow(std::size_t tickets);

  const SipKey key_;
  std::vector<float> rows_;  // counts of tickets, divided by `unit_`
  double sum_ = 0;           // of one of the two rows
  double unit_ = 1;
};

// The /24 of an IPv4 address, the /48 of an IPv6 address: the most that a provider's customer has.
IpAddress place_network(const IpAddress& client);
// Whether an address identifies a client. Loopback, private, link-local and shared addresses do
// not: if they belong to a proxy that is not among the trusted peers, many visitors come from one.
bool says_who(const IpAddress& client);

}  // namespace spillway::proxy
