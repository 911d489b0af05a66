// Visitors of a waiting room with reservations, by number.
#pragma once

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "config/choices.hpp"
#include "crowd.hpp"

namespace spillway::waiting {

inline constexpr Milliseconds kMinute{60'000};
inline Terms with_reservations(std::uint32_t sessions = 1) {
  Terms terms = terms_for(sessions, When::always);
  terms.session_ttl = 1440 * kMinute;
  terms.reserve = {.keep = 60 * kMinute, .claim = 15 * kMinute, .anonymous = true};
  return terms;
}

// Visitors by number. Those at their page ask as they are told.
struct Hall {
  explicit Hall(const Terms& terms = with_reservations()) : room(terms) {
    EventSet all;
    all.fill(true);
    room.want_events(all);
  }

  void pass(Milliseconds time) {
    for (const Time until = now + time; now < until;) {
      room.tick(now += kTick, kHealthy);
      for (const std::uint64_t n : inside) room.stay(id_of(n), now);
      if ((now - kStart) % Milliseconds(5'000) != Milliseconds(0)) continue;
      for (const std::uint64_t n : at_page) room.hear(id_of(n), now);
    }
  }
  void join(std::uint64_t number, const UserKey& user = {}) {
    now += Milliseconds(1);
    now += kTick - (now - kStart) % kTick;
    REQUIRE(room.join(id_of(number), now, now, 0, user).view);
  }
  bool reserve(std::uint64_t number) {
    const auto grant = room.reserve(id_of(number), now, "\"ann\"");
    return grant && grant->is_granted;
  }
  bool enter(std::uint64_t number) {
    if (!room.claim(id_of(number), now)) return false;
    std::erase(at_page, number);
    inside.push_back(number);
    return true;
  }
  void leave(std::uint64_t number) {
    room.cancel(id_of(number), now);
    std::erase(inside, number);
  }
  std::optional<View> view(std::uint64_t number) const { return room.peek(id_of(number)); }
  bool is_called(std::uint64_t number) const {
    const auto its = view(number);
    return its && its->state == TicketState::processing;
  }
  // Somebody is inside, so that all others wait.
  void fill() {
    join(1);
    pass(kTick);
    REQUIRE(enter(1));
  }
  std::vector<std::string> told() {
    std::vector<std::string> lines;
    for (const TicketEvent& one : room.take_events(TicketEvents::kMost)) {
      std::string line(config::name(one.event));
      if (one.is_reserved) line += " reserved";
      if (one.claim > Milliseconds(0)) line += " for " + std::to_string(one.claim / kMinute);
      if (!one.user.empty()) line += " of " + one.user;
      if (one.cause) line += " as " + std::string(name(*one.cause));
      lines.push_back(line);
    }
    return lines;
  }

  WaitingRoom room;
  Time now = kStart;
  std::vector<std::uint64_t> inside, at_page;
};

}  // namespace spillway::waiting
