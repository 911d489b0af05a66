// The rows at NGINX and HAProxy: what their clients and backends saw, for a column of the table.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "system/faults/peers.hpp"
#include "system/faults/row.hpp"

namespace spillway::faults {

// What came of a row at one of them.
struct PeerResult {
  using Words = std::map<std::string, std::size_t>;

  std::string not_because;  // not played
  std::size_t clients = 0;
  Words amiss;                       // what the row does not allow, but for:
  std::size_t others = 0;            // of the clients, those who have done nothing to lose by
  Words lost;                        // what they saw instead of what is theirs
  std::vector<std::string> besides;  // what else is not as it should be
  std::size_t requests = 0;          // that came to its backends

  bool was_played() const { return not_because.empty(); }
  bool holds() const { return was_played() && amiss.empty() && lost.empty() && besides.empty(); }
};

// Takes in what the clients of a round saw.
void add(const std::vector<Seen>& round, const std::function<bool(Client)>& is_other,
         PeerResult& result);

// As a cell: "holds", "- (Spillway's log)", "others lose 12 of 16: 502 x 12", "502 x 3 of 64".
std::string cell(const PeerResult& result);

PeerResult play_at(Peer peer, const Row& row);

// Those rows whose names `is_wanted` at each of kPeers, some rows at a time.
std::vector<std::vector<PeerResult>> play_at_peers(
    Rows rows, const std::function<bool(const std::string&)>& is_wanted);

}  // namespace spillway::faults
