// Which of an upstream's servers are in rotation, and how many of its slots are to be used
// therefore.
//
// A server that is lost takes its part of the slots with it (SlotParts). What is still in flight
// there keeps its slots: it is no load of the others. A server that returns from its ejection is on
// trial: it has one slot until a response succeeds. With its whole part it would take a burst of
// requests that all come to the others if it is still lost.
//
// Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "resilience/server_set.hpp"
#include "resilience/slot_parts.hpp"

namespace spillway::resilience {

// How busy a server is, by its part of the slots.
struct ServerLoad {
  std::uint32_t in_flight = 0;
  std::uint32_t part = 1;  // at least 1

  constexpr bool has_room() const { return in_flight < part; }
  friend constexpr bool operator<(const ServerLoad& a, const ServerLoad& b) {
    return std::uint64_t{a.in_flight} * b.part < std::uint64_t{b.in_flight} * a.part;
  }
};

struct Rotation {
  // `down`: unwell or ejected. Where no other server is left, one on trial has its part: the slots
  // of those that are lost are not for it.
  static constexpr Rotation of(ServerSet all, ServerSet down, ServerSet on_trial) {
    const ServerSet up = all - down, tried = on_trial & up;
    if (up == tried) return {.all = all, .in = up, .on_trial = {}};
    return {.all = all, .in = up - tried, .on_trial = tried};
  }

  ServerSet all;       // at least one
  ServerSet in;        // with their parts
  ServerSet on_trial;  // with one slot each; none of `in`

  // No server is lost, or all are: then none of them is worse than another, and each has its part.
  constexpr bool is_whole() const { return in == all || in.empty(); }
  constexpr std::size_t servers_in() const { return is_whole() ? all.size() : in.size(); }

  // Of `parts`.
  constexpr std::uint32_t part(std::size_t server, const SlotParts& parts) const {
    return !is_whole() && on_trial.contains(server) ? 1 : parts.of(server);
  }
  // At servers that are not in rotation. `in_flight`: by server.
  template <class InFlight>
  std::uint32_t elsewhere(const InFlight& in_flight) const {
    std::uint32_t sum = 0;
    if (is_whole()) return sum;
    for (ServerSet rest = all - in; !rest.empty(); rest.erase(rest.front()))
      sum += in_flight[rest.front()];
    return sum;
  }
  // How many of `slots` are to be used now.
  template <class InFlight>
  std::uint32_t usable(std::uint32_t slots, const InFlight& in_flight) const {
    if (is_whole()) return slots;
    std::uint64_t sum = SlotParts(slots, all.size()).of(in);
    for (ServerSet rest = all - in; !rest.empty(); rest.erase(rest.front())) {
      const std::uint32_t its = in_flight[rest.front()];
      sum += on_trial.contains(rest.front()) ? std::max(its, 1u) : its;
    }
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, slots));
  }
};

}  // namespace spillway::resilience
