// One line of a waiting room: of all its visitors or, where it hands out resources, of the visitors
// that ask for one type. Each lane has its own order, tiers, shares and rate of entry, so that
// visitors that wait for another type are not ahead.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "waiting/line/tiered_line.hpp"
#include "waiting/pace/learned.hpp"
#include "waiting/resources/catalog.hpp"

namespace spillway::waiting {

// How the visitor of a called ticket has reacted so far.
enum class Coming : std::uint8_t {
  fresh,    // it may not have learned of the call yet
  lapsed,   // it should have, and did not come
  at_door,  // it came, and there was no room
  away,     // it has a reservation, and may not be at its page
};

// After a page has shown the call, the visitor's request comes within this.
inline constexpr Milliseconds kComing{3'000};

// The number of called tickets.
struct Called {
  std::size_t fresh = 0;
  std::size_t lapsed = 0;
  std::size_t at_door = 0;
  std::size_t away = 0;

  std::size_t all() const { return fresh + lapsed + at_door + away; }
  std::size_t& of(Coming coming) {
    switch (coming) {
      case Coming::fresh: break;
      case Coming::lapsed: return lapsed;
      case Coming::at_door: return at_door;
      case Coming::away: return away;
    }
    return fresh;
  }
  Called& operator+=(const Called& other) {
    fresh += other.fresh;
    lapsed += other.lapsed;
    at_door += other.at_door;
    away += other.away;
    return *this;
  }

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.fresh, self.lapsed, self.at_door, self.away);
  }
};

// A reserved ticket that was skipped because enough absent visitors were called already. These
// tickets are called in order: by missed calls, fewest first, then by tier and place.
struct PassedOver {
  std::uint8_t missed = 0;
  std::uint8_t below = 0;  // UINT8_MAX less its priority, so that higher tiers sort first
  Order order = 0;
  Slot slot = kNoSlot;

  auto operator<=>(const PassedOver&) const = default;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.missed, self.below, self.order, self.slot);
  }
};

// Reservations whose visitors are away, of one kind of requirement.
struct AwayOfKind {
  std::uint32_t called = 0;
  std::set<PassedOver> passed_over;  // they are not present in the line

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.called, self.passed_over);
  }
};

struct Lane {
  std::string type;  // the type of resource; empty: none is handed out
  TieredLine line;
  Learned learned;
  Learned::Events since;  // the last tick
  Called called;
  std::uint64_t calls = 0;        // since the beginning
  std::uint64_t fulfilled = 0;    // the same: tickets that became sessions
  std::vector<AwayOfKind> kinds;  // by kind, up to the last kind that has occurred

  AwayOfKind& away_of(std::uint8_t kind) {
    if (kinds.size() <= kind) kinds.resize(kind + std::size_t{1});
    return kinds[kind];
  }
  // Absent visitors of these kinds that are called.
  std::size_t called_away(KindSet of) const {
    std::size_t count = 0;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind)
      count += (of >> kind & 1) != 0 ? kinds[kind].called : 0;
    return count;
  }
  // The tickets in line that are expected to come when they are called: all whose visitors are at
  // their pages, and the learned share of those that are away. A ticket that was passed over is not
  // counted.
  double expected(const Line::Ahead& all, const Line::Ahead& away) const {
    return static_cast<double>(all.present - away.present) +
           learned.away_come() * static_cast<double>(away.present);
  }
  // The tickets that are away and not expected to come.
  double not_expected(const Line::Ahead& away) const {
    return static_cast<double>(away.all) - learned.away_come() * static_cast<double>(away.present);
  }

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.type, self.line, self.learned, self.since, self.called, self.calls, self.fulfilled,
            self.kinds);
  }
};

// An estimate of the number of visitors that are called within some time.
struct CallsWithin {
  double mean = 0;
  double variance = 0;
  double most = 0;  // limited by a cap

  double expected() const { return std::min(mean, most); }
  // A lower bound of the number, exceeded with the probability of this normal quantile.
  double surely(double quantile) const;
};

// The rest of the call budget, and which lane goes next.
struct CallTurn {
  double may_call = 1;
  std::size_t lane = 0;  // goes first if not all lanes can be served

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.may_call, self.lane);
  }
};

}  // namespace spillway::waiting
