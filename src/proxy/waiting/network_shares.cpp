#include "proxy/waiting/network_shares.hpp"

#include <algorithm>
#include <string_view>

#include "traffic/client/client_address.hpp"

namespace spillway::proxy {

namespace {

// Below it counts are scaled back, before a float is too large to be incremented by one ticket.
constexpr double kSmallestUnit = 1e-3;

IpBlock block(std::string_view text) {
  IpBlock block;
  parse_ip_block(text, block);
  return block;
}

}  // namespace

IpAddress place_network(const IpAddress& client) { return traffic::site_network(client); }

bool says_who(const IpAddress& client) {
  static const std::array<IpBlock, 9> kOthers{block("127.0.0.0/8"),
                                              block("10.0.0.0/8"),
                                              block("172.16.0.0/12"),
                                              block("192.168.0.0/16"),
                                              block("169.254.0.0/16"),
                                              block("100.64.0.0/10"),
                                              block("::1"),
                                              block("fc00::/7"),
                                              block("fe80::/10")};
  return std::ranges::none_of(kOthers,
                              [&](const IpBlock& other) { return other.contains(client); });
}

NetworkShares::Places NetworkShares::places_of(const IpAddress& client) const {
  const IpAddress network = place_network(client);
  const std::uint64_t hash =
      sip_hash(key_, {reinterpret_cast<const char*>(network.bytes.data()), network.bytes.size()});
  return {hash % kCounters, kCounters + (hash >> 32) % kCounters};
}

void NetworkShares::follow(std::size_t tickets) {
  const double line = static_cast<double>(tickets);
  if (sum_ * unit_ > line) unit_ = line / sum_;
  if (unit_ >= kSmallestUnit) return;
  for (float& counter : rows_) counter = static_cast<float>(counter * unit_);
  sum_ *= unit_;
  unit_ = 1;
}

bool NetworkShares::may_have_more(const IpAddress& client, std::size_t tickets,
                                  const waiting::Space& space, double share) {
  if (share >= 1 || !says_who(client)) return true;
  follow(tickets);
  const auto [one, other] = places_of(client);
  const double its = std::min(rows_[one], rows_[other]) * unit_;
  // Its tickets may be in any part of the line; in this part they are at most all of its tickets.
  const double there = std::min(its, space.taken + space.away);
  return its < kFew || there < share / (1 - share) * std::max(space.free(), 0.0);
}

void NetworkShares::add(const IpAddress& client, std::size_t tickets) {
  follow(tickets);
  const double one_more = 1 / unit_;
  for (const std::size_t place : places_of(client))
    rows_[place] = static_cast<float>(rows_[place] + one_more);
  sum_ += one_more;
}

void NetworkShares::add_to_none(std::size_t tickets) {
  follow(tickets);
  sum_ += 1 / unit_;
}

}  // namespace spillway::proxy
