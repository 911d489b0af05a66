// Who is called next of several tiers: a line for each priority, in one order.
//
// The highest tier first, and within a tier by arrival; except that a lower one is next that has
// got less than its share of the calls: deficit round robin (Shreedhar and Varghese, SIGCOMM 1995)
// with a quantum of `share` for each call that anyone gets. So of any number of calls while
// somebody of it is present a tier gets its share, less one call. What it gets beyond its share,
// because no higher one is there, is not held against it, and what it could not use is not kept.
//
// A line is made when its priority is first needed: with one tier in use this is one Line.
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
  // A reload: who is in line stays where it is. A priority that is no tier any more keeps its rank
  // and has no share.
  void set_tiers(const Tiers& tiers);

  // The same priority in each call about a slot.
  struct Member {
    Priority priority = 0;
    Slot slot = kNoSlot;
    std::uint8_t kind = 0;  // of its requirement
  };
  // As those of Line. insert_before(): `next` is of the same priority.
  void insert(const Member& member, Order order);
  void insert_before(const Member& member, Slot next);
  void remove(const Member& member);
  void set_present(const Member& member, bool is_present);
  bool is_present(const Member& member) const;
  // Marks a ticket whose visitor is not at its page, whether it may be called or not. A called
  // ticket is not marked, nor is one that joins the line.
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

  // The one to be called next, of these kinds; kNoSlot: nobody of them is present.
  Slot next(std::uint32_t kinds = UINT32_MAX) const;
  // As next(), of the tickets whose visitors are at their pages.
  Slot next_at_page(std::uint32_t kinds = UINT32_MAX) const;
  // It is called, whether it was next of these kinds or not: it is not present any more, and what
  // tiers are owed changes. A tier of which nobody could have been called is owed nothing by it.
  void call(const Member& member, std::uint32_t kinds = UINT32_MAX);

  // The line of one tier, and the line of its tickets that are away.
  const Line& of(Priority priority) const;
  const Line& away_of(Priority priority) const;
  // The sum of the shares of lower tiers that have a present ticket.
  double shares_below(Priority priority) const;

  // Of all tiers, the higher ones first. nullopt: there is none.
  std::optional<Slot> at(std::size_t ahead) const;
  std::size_t before(Priority priority, Order order) const;
  std::size_t size() const;
  std::size_t present() const;
  Line::Ahead away() const;

  // Calls see(Priority, const Line&) for each, the highest first.
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
    Line away;  // those of `line` that are away, as they are there

    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
      archive(self.priority, self.share, self.owed, self.line, self.away);
    }
  };

  // Of the lanes for which `has_any(lane)` holds, the next one; null: there is none.
  template <class HasAny>
  const Lane* next_lane(const HasAny& has_any) const;
  Lane& lane(Priority priority);  // makes it
  const Lane* find(Priority priority) const;

  Tiers tiers_;
  std::vector<Lane> lanes_;  // the highest first
};

}  // namespace spillway::waiting
