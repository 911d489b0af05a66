// The lines of several tiers, one for each priority, and which ticket is called next.
//
// The highest tier goes first, and within a tier the order is by arrival; but a lower tier goes
// first if it has got less than its share of the calls: deficit round robin (Shreedhar and
// Varghese, SIGCOMM 1995) with a quantum of `share` for each call to any tier. So while one of its
// tickets is present, a tier gets its share of any number of calls, less one call. Calls beyond its
// share, when no higher tier is present, are not held against it; an unused share is not saved up.
//
// A line is created when its priority is first needed: with one tier in use this is one Line.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "waiting/line/line.hpp"
#include "waiting/ticket/archive.hpp"
#include "waiting/ticket/tier.hpp"

namespace spillway::waiting {

class TieredLine {
 public:
  TieredLine() = default;
  explicit TieredLine(const Tiers& tiers) : tiers_(tiers) {}
  // A reload: tickets keep their places. A priority that is no longer a tier keeps its rank
  // and has no share.
  void set_tiers(const Tiers& tiers);

  // Each call about a slot must give the same priority.
  struct Member {
    Priority priority = 0;
    Slot slot = kNoSlot;
    std::uint8_t kind = 0;  // of its requirement
  };
  // As the functions of Line. insert_before(): `next` has the same priority.
  void insert(const Member& member, Order order);
  void insert_before(const Member& member, Slot next);
  void remove(const Member& member);
  void set_present(const Member& member, bool is_present);
  bool is_present(const Member& member) const;
  // Marks a ticket whose visitor is not at its page, present or not. A called ticket is not marked,
  // nor is one that joins the line.
  void set_away(const Member& member, bool is_away);
  bool is_away(const Member& member) const;

  struct Ahead {
    Line::Ahead own;       // of its tier
    Line::Ahead higher;    // all of higher tiers
    Line::Ahead own_away;  // the part of it that is away
    Line::Ahead higher_away;

    std::size_t all() const { return own.all + higher.all; }
  };
  Ahead ahead(const Member& member) const;

  // The next ticket to be called, of these kinds; kNoSlot: none of them is present.
  Slot next(std::uint32_t kinds = UINT32_MAX) const;
  // As next(), among the tickets whose visitors are at their pages.
  Slot next_at_page(std::uint32_t kinds = UINT32_MAX) const;
  // Calls it, whether it was the next of these kinds or not: it is not present any more, and the
  // calls owed to tiers change. A tier without a present ticket of these kinds is owed none by it.
  void call(const Member& member, std::uint32_t kinds = UINT32_MAX);

  // The line of one tier, and the line of its tickets that are away.
  const Line& of(Priority priority) const;
  const Line& away_of(Priority priority) const;
  // The sum of the shares of lower tiers that have a present ticket.
  double shares_below(Priority priority) const;

  // Counted over all tiers, the higher ones first. nullopt: there is none.
  std::optional<Slot> at(std::size_t ahead) const;
  std::size_t before(Priority priority, Order order) const;
  std::size_t size() const;
  std::size_t present() const;
  Line::Ahead away() const;

  // Calls see(Priority, const Line&) for each line, the highest first.
  template <class See>
  void each(const See& see) const {
    for (const Lane& lane : lanes_) see(lane.priority, lane.line);
  }

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.tiers_, self.lanes_);
  }

  struct Lane {
    Priority priority = 0;
    double share = 0;
    double owed = 0;  // calls
    Line line;
    Line away;  // the tickets of `line` that are away, in the same order

    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
      archive(self.priority, self.share, self.owed, self.line, self.away);
    }
  };

  // The next of the lanes for which `has_any(lane)` holds; null: there is none.
  template <class HasAny>
  const Lane* next_lane(const HasAny& has_any) const;
  Lane& lane(Priority priority);  // creates it if needed
  const Lane* find(Priority priority) const;

  Tiers tiers_;
  std::vector<Lane> lanes_;  // the highest first
};

}  // namespace spillway::waiting
