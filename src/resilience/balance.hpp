// Load balancing: which of an upstream's servers gets the next request.
//
// Two of the three ways look at how much each server has in flight, so that a slow one gets less:
// the least of all, or the lesser of two drawn at random (Mitzenmacher, "The Power of Two Choices
// in Randomized Load Balancing", IEEE Transactions on Parallel and Distributed Systems, 2001),
// which reads two counts however many servers there are, and does not send all workers that choose
// at the same moment to the same server. Round robin ignores the load: requests pile up at a slow
// server.
//
// In all of them `among` is not empty and may change from call to call; `in_flight(server)` is the
// server's current number of requests in flight; `turn` rises by one with each call (it may wrap).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/random.hpp"
#include "config/config.hpp"
#include "resilience/server_set.hpp"

namespace spillway::resilience {

inline std::size_t in_turn(ServerSet among, std::uint64_t turn) {
  return among.nth(turn % among.size());
}

// Least in flight; servers with equally few take turns.
template <class InFlight>
std::size_t with_least(ServerSet among, std::uint64_t turn, InFlight in_flight) {
  ServerSet least;
  std::uint64_t fewest = UINT64_MAX;
  for (ServerSet rest = among; !rest.empty();) {
    const std::size_t server = rest.front();
    rest.erase(server);
    const std::uint64_t count = in_flight(server);
    if (count > fewest) continue;
    if (count < fewest) least = {};
    fewest = count;
    least.insert(server);
  }
  return in_turn(least, turn);
}

// Power of two choices: the better of two different servers drawn at random; the first if equal.
template <class InFlight>
std::size_t better_of_two(ServerSet among, Random& random, InFlight in_flight) {
  const std::size_t size = among.size();
  if (size == 1) return among.front();
  const auto draw = [&](std::size_t below) {
    return static_cast<std::size_t>(random.uniform() * static_cast<double>(below));
  };
  const std::size_t first = among.nth(draw(size));
  among.erase(first);
  const std::size_t second = among.nth(draw(size - 1));
  return in_flight(second) < in_flight(first) ? second : first;
}

template <class InFlight>
std::size_t choose(config::Balance way, ServerSet among, std::uint64_t turn, Random& random,
                   InFlight in_flight) {
  switch (way) {
    case config::Balance::least_inflight: return with_least(among, turn, in_flight);
    case config::Balance::power_of_two: return better_of_two(among, random, in_flight);
    case config::Balance::round_robin: break;
  }
  return in_turn(among, turn);
}

}  // namespace spillway::resilience
