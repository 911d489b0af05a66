// A laboratory that lends out devices, for tests of resources.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "crowd.hpp"

namespace spillway::waiting {

inline constexpr Milliseconds kHour{3'600'000};

// Two small devices and a large one of one type, and one of another.
inline Resources lab_resources() {
  Resources resources;
  resources.groups = {{"gpu", "small", 2, {{"memory_gb", 16}}},
                      {"gpu", "large", 0, {{"memory_gb", 64}, {"cores", 8}}},
                      {"scope", "scope", 0, {}}};
  resources.default_type = "gpu";
  resources.duration = {Milliseconds(60'000), kHour};
  resources.usual_duration = kHour;
  resources.own_wait = {Milliseconds(60'000), Milliseconds(1'800'000)};
  return resources;
}

inline Terms lab_terms() {
  Terms terms = terms_for(1000);
  terms.resources = lab_resources();
  return terms;
}

inline constexpr Milliseconds kLabPoll{1'000};
inline Terms lab_with_reservations() {
  Terms terms = lab_terms();
  terms.shortest_poll = terms.longest_poll = kLabPoll;
  terms.reserve = {.keep = 24 * kHour, .claim = kHour / 4, .anonymous = true};
  terms.max_wait = 24 * kHour;
  return terms;
}

inline Ask ask_for(std::string type, std::uint32_t memory_gb = 0, Milliseconds duration = {}) {
  Ask ask{.type = std::move(type), .sizes = {}, .duration = duration};
  if (memory_gb > 0) ask.sizes.push_back({"memory_gb", memory_gb});
  return ask;
}

// Visitors by number; time goes by ticks, in which those who wait ask.
class Lab {
 public:
  explicit Lab(const Terms& terms = lab_terms()) : room(terms) {}

  WaitingRoom::Contact join(std::uint64_t number, const Ask& ask, Priority priority = 0) {
    return room.join(id_of(number), now, now, priority, {}, ask);
  }
  void tick() {
    now += kTick;
    room.tick(now, kHealthy);
  }
  // nullopt: it has neither place nor session.
  std::optional<TicketState> state(std::uint64_t number) {
    const auto report = room.inspect(id_of(number), now);
    return report ? std::optional(report->view.state) : std::nullopt;
  }
  std::string device(std::uint64_t number) const { return room.resource_of(id_of(number)); }
  bool enter(std::uint64_t number) { return room.claim(id_of(number), now).has_value(); }
  void leave(std::uint64_t number) { room.cancel(id_of(number), now); }

  WaitingRoom room;
  Time now = kStart;
};

}  // namespace spillway::waiting
