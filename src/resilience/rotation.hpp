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

// Requests in flight at a server.
struct InFlight {
  std::uint32_t all = 0;
  std::uint32_t former = 0;  // of these, sent before its trial began

  constexpr std::uint32_t of_trial() const { return all - std::min(former, all); }
};

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

  // By its part of `parts`. The slot of a trial is for a new request: an old one may take an hour.
  constexpr ServerLoad load(std::size_t server, const SlotParts& parts, InFlight its) const {
    if (!is_whole() && on_trial.contains(server)) return {its.of_trial(), 1};
    return {its.all, parts.of(server)};
  }
  // At servers that are not in rotation. `in_flight(server)`: InFlight.
  template <class Flying>
  std::uint32_t elsewhere(const Flying& in_flight) const {
    std::uint32_t sum = 0;
    if (is_whole()) return sum;
    for (ServerSet rest = all - in; !rest.empty(); rest.erase(rest.front()))
      sum += in_flight(rest.front()).all;
    return sum;
  }
  // How many of `slots` are to be used now. `parts`: of them.
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
