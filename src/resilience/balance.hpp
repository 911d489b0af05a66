// Load balancing: which of an upstream's servers gets the next request.
//
// None of the three gives a server more than its part of the slots while another one has room.
//
// Two of them compare how much each server has in flight, so that a slow one gets less: the least
// of all, or the lesser of two drawn at random (Mitzenmacher, "The Power of Two Choices in
// Randomized Load Balancing", IEEE Transactions on Parallel and Distributed Systems, 2001), which
// reads two counts however many servers there are, and does not send all workers that choose at
// the same moment to the same server. Round robin ignores the load: requests pile up at a slow
// server.
//
// For all of them: `among` is not empty and may change from call to call; `load(server)` is its
// current load in flight relative to its part; `turn` rises by one with each call (it may wrap).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/random.hpp"
#include "config/config.hpp"
#include "resilience/rotation.hpp"
#include "resilience/server_set.hpp"

namespace spillway::resilience {

inline std::size_t in_turn(ServerSet among, std::uint64_t turn) {
  return among.nth(turn % among.size());
}

// Least in flight relative to its part, and thus a server with room if there is any; servers with
// equal loads take turns.
template <class Load>
std::size_t with_least(ServerSet among, std::uint64_t turn, Load load) {
  ServerSet least;
  least.insert(among.front());
  auto fewest = load(among.front());
  among.erase(among.front());
  for (; !among.empty(); among.erase(among.front())) {
    const std::size_t server = among.front();
    const auto its = load(server);  // read once, since it may change
    if (fewest < its) continue;
    if (its < fewest) least = {};
    fewest = its;
    least.insert(server);
  }
  return in_turn(least, turn);
}

// Power of two choices: the better of two different servers drawn at random; the first if equal.
template <class Load>
std::size_t better_of_two(ServerSet among, Random& random, Load load) {
  const std::size_t size = among.size();
  if (size == 1) return among.front();
  const auto draw = [&](std::size_t below) {
    return static_cast<std::size_t>(random.uniform() * static_cast<double>(below));
  };
  const std::size_t first = among.nth(draw(size));
  among.erase(first);
  const std::size_t second = among.nth(draw(size - 1));
  return load(second) < load(first) ? second : first;
}

template <class Load>
std::size_t choose(config::Balance way, ServerSet among, std::uint64_t turn, Random& random,
                   Load load) {
  if (way == config::Balance::least_inflight) return with_least(among, turn, load);
  const std::size_t server = way == config::Balance::power_of_two
                                 ? better_of_two(among, random, load)
                                 : in_turn(among, turn);
  if (load(server).has_room()) return server;
  ServerSet with_room;
  for (ServerSet rest = among; !rest.empty(); rest.erase(rest.front()))
    if (load(rest.front()).has_room()) with_room.insert(rest.front());
  if (with_room.empty()) return server;
  return way == config::Balance::power_of_two ? better_of_two(with_room, random, load)
                                              : in_turn(with_room, turn);
}

}  // namespace spillway::resilience
