// One line of a waiting room: of all its visitors or, where it hands out resources, of those who
// ask for one type. Each lane has its own order, tiers, shares and rate of entry, so that whoever
// waits for another type is not ahead.
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

// Of a ticket that is called: whether it has been seen to come.
enum class Coming : std::uint8_t {
  fresh,    // it has not had the time to learn of the call
  lapsed,   // it has, and did not come
  at_door,  // it came, and there was no room
  away,     // it has a reservation, and is not known to be there
};

// After a call was seen, the visitor's request comes within this.
inline constexpr Milliseconds kComing{3'000};

// Those who are called.
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

// A reserved ticket whose turn came while enough absent visitors were called already. These tickets
// are called in order: by calls missed, fewest first, then by tier and place.
struct PassedOver {
  std::uint8_t missed = 0;
  std::uint8_t below = 0;  // the highest priority that there may be
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
  std::string type;  // of resources; empty: there are none
  TieredLine line;
  Learned learned;
  Learned::Events since;  // the last tick
  Called called;
  std::uint64_t calls = 0;        // since the beginning
  std::uint64_t fulfilled = 0;    // likewise: tickets that became sessions
  std::vector<AwayOfKind> kinds;  // by kind, up to the last of which there were any

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

// An estimate of how many visitors are called within some time.
struct CallsWithin {
  double mean = 0;
  double variance = 0;
  double most = 0;  // by a cap

  double expected() const { return std::min(mean, most); }
  // So many at least, but for the cases beyond this normal quantile.
  double surely(double quantile) const;
};

// What is left of the pace of calls, and whose turn it is.
struct CallTurn {
  double may_call = 1;
  std::size_t lane = 0;  // goes first if not all can have what they wait for

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.may_call, self.lane);
  }
};

}  // namespace spillway::waiting
