// Which of an upstream's servers are in rotation, and how many of its slots may therefore be
// used.
//
// A lost server takes its part of the slots with it (SlotParts). Requests still in flight there
// keep their slots: they are no load on the others. A server that returns from its ejection is on
// trial: it has one slot until a response succeeds. With its whole part it would receive a burst of
// requests that would all move on to the others if it is still lost.
//
// Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "resilience/server_set.hpp"
#include "resilience/slot_parts.hpp"

namespace spillway::resilience {

// Requests in flight at a server.
struct InFlight {
  std::uint32_t all = 0;
  std::uint32_t former = 0;  // of these, sent before its trial began

  constexpr std::uint32_t of_trial() const { return all - std::min(former, all); }
};

// The load of a server relative to its part of the slots.
struct ServerLoad {
  std::uint32_t in_flight = 0;
  std::uint32_t part = 1;  // at least 1

  constexpr bool has_room() const { return in_flight < part; }
  friend constexpr bool operator<(const ServerLoad& a, const ServerLoad& b) {
    return std::uint64_t{a.in_flight} * b.part < std::uint64_t{b.in_flight} * a.part;
  }
};

struct Rotation {
  // `down`: unhealthy or ejected. If no other server is left, one on trial has its part, but not
  // the slots of the lost ones.
  static constexpr Rotation of(ServerSet all, ServerSet down, ServerSet on_trial) {
    const ServerSet up = all - down, tried = on_trial & up;
    if (up == tried) return {.all = all, .in = up, .on_trial = {}};
    return {.all = all, .in = up - tried, .on_trial = tried};
  }

  ServerSet all;       // at least one
  ServerSet in;        // with their parts
  ServerSet on_trial;  // with one slot each; none of `in`

  // No server is lost, or all are: then none is worse than another, and each has its part.
  constexpr bool is_whole() const { return in == all || in.empty(); }
  constexpr std::size_t servers_in() const { return is_whole() ? all.size() : in.size(); }

  // By its part of `parts`. The slot of a trial is for a new request: an old one may take an hour.
  constexpr ServerLoad load(std::size_t server, const SlotParts& parts, InFlight its) const {
    if (!is_whole() && on_trial.contains(server)) return {its.of_trial(), 1};
    return {its.all, parts.of(server)};
  }
  // Requests at servers out of rotation. `in_flight(server)`: InFlight.
  template <class Flying>
  std::uint32_t elsewhere(const Flying& in_flight) const {
    std::uint32_t sum = 0;
    if (is_whole()) return sum;
    for (ServerSet rest = all - in; !rest.empty(); rest.erase(rest.front()))
      sum += in_flight(rest.front()).all;
    return sum;
  }
  // How many of `slots` may be used now. `parts`: how they are divided.
  template <class Flying>
  std::uint32_t usable(std::uint32_t slots, const SlotParts& parts, const Flying& in_flight) const {
    if (is_whole()) return slots;
    std::uint64_t sum = parts.of(in);
    for (ServerSet rest = all - in; !rest.empty(); rest.erase(rest.front())) {
      const InFlight its = in_flight(rest.front());
      sum += its.all + (on_trial.contains(rest.front()) && its.of_trial() == 0 ? 1 : 0);
    }
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, slots));
  }
};

}  // namespace spillway::resilience
