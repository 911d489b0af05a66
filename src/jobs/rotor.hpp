// Which job is pulled next: lanes of a lower rank first, and within a rank deficit round robin
// (Shreedhar and Varghese, SIGCOMM 1995) over routes, and over the tenants of a route, at a cost of
// one per job. So a route or a tenant with a million jobs does not delay another's first job.
//
// One transaction of the store asks several lanes, so several turns may be open at a time. How many
// jobs a lane has is unknown before it has answered: the room of its route is divided among the
// lanes, and the unused part is refunded to the route. A lane that has used a part of its quantum
// goes behind the others of its round, and begins the next round only when all have had theirs: in
// a round each gets one quantum, in any number of turns.
//
// Pure, in memory; its knowledge about lanes is a hint: the store has the facts. Not copyable,
// since its parts refer to each other. A turn costs O(log lanes), and one step for each route of
// the rank that has no room.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "jobs/job.hpp"

namespace spillway::jobs {

class Rotor {
 public:
  struct Due {
    Lane lane;
    WallTime due{};  // of its first job
  };
  struct Turn {
    Lane lane;
    std::size_t limit = 0;
  };
  // How many jobs of the route may be pulled now, given its caps, a pause, an open circuit.
  using Room = std::function<std::size_t(const std::string& route)>;

  Rotor() = default;
  Rotor(const Rotor&) = delete;
  Rotor& operator=(const Rotor&) = delete;

  // A waiting job was seen: stored, given back, or to be retried at `due`. Beyond kMostLanes a new
  // lane is left out; refresh() finds it after others are empty.
  void add(const Lane& lane, WallTime due);
  // The store's data (store::Lanes) replaces what was known. It comes page by page: at the end of a
  // round of pages, lanes are forgotten that are on none of them and were not seen since the round
  // began. A lane that stays keeps its place in the order.
  struct Page {
    bool begins_round = true;
    bool ends_round = true;
  };
  void refresh(std::span<const Due> lanes) { refresh(lanes, Page{}); }
  void refresh(std::span<const Due> lanes, Page page);

  // The lane to pull from, and how many jobs at most: the rest of its and its route's quantum, its
  // part of its route's room, if that is divided among up to `lanes`, and `most`. nullopt: none is
  // due, none is allowed, or the next one has an open turn. `room` and `most` must exclude jobs
  // that open turns may bring.
  std::optional<Turn> next(WallTime now, std::size_t most, const Room& room, std::size_t lanes = 1);
  // The answer: this many jobs came from that turn; if fewer than asked, nothing more is known to
  // be due in that lane. add() and refresh() bring it back, also for jobs that came since next().
  void took(const Turn& turn, std::size_t jobs);
  // The store was not asked, or has failed: the lane gets its quantum back.
  void give_up(const Turn& turn);

  // From when a route may have room again, as far as is known; nullopt: not before some reported
  // event.
  using RoomFrom = std::function<std::optional<WallTime>(const std::string& route)>;
  // When there may be a turn: the next lane is due, or a route with due lanes may have room.
  // nullopt: nothing to wait for. Costs one step for each such route.
  std::optional<WallTime> next_due(const RoomFrom& from) const;
  // When that lane is due; nullopt: no jobs in it are known.
  std::optional<WallTime> due(const Lane& lane) const;
  std::size_t lanes() const { return places_.size(); }
  // The lanes that take turns now.
  std::size_t lanes_due() const { return places_.size() - sleeping_.size(); }

  // How many jobs a lane may have in a row.
  static constexpr std::size_t kQuantum = 16;
  static constexpr std::size_t kMostLanes = 100'000;
  // The lanes that one transaction asks. With more, it would take longer than the acknowledgements,
  // which share it, should wait.
  static constexpr std::size_t kMostTurns = 16;

 private:
  struct Place;
  using Tenants = std::list<Place*>;
  // A route with due lanes.
  struct Route {
    const std::string* name;
    std::array<Tenants, 2> rounds{};  // the current round, whose first lane is next, and the next
    std::size_t round = 0;            // the index of the current round
    std::size_t left = kQuantum;
    std::size_t open = 0;  // lanes with an open turn

    std::size_t lanes() const { return rounds[0].size() + rounds[1].size(); }
  };
  using Routes = std::list<Route>;
  struct Rank {
    Routes ring;  // the first is next
    std::map<std::string, Routes::iterator> by_name;
  };
  using ByDue = std::map<std::pair<WallTime, std::uint64_t>, Place*>;
  // The state of a lane.
  struct Place {
    const Lane* lane = nullptr;
    WallTime due{};
    std::uint64_t number = 0;  // distinguishes lanes with the same due time
    bool is_ready = false;     // it is in a ring
    bool has_turn = false;     // an open one
    std::size_t left = kQuantum;
    std::optional<WallTime> news{};  // a due time seen since its turn began
    std::uint64_t seen_in = 0;       // the round of pages in which it was last seen
    Routes::iterator route{};        // valid if it is ready, as are `round` and `self`
    std::size_t round = 0;           // which of its route's rounds
    Tenants::iterator self{};
  };

  void learn(Place& place, WallTime due);
  void wake(WallTime now);
  void enter_ring(Place& place);
  void leave_ring(Place& place);
  void sleep(Place& place, WallTime due);
  void forget(Place& place);
  void forget_unseen();
  static void move_to_round(Place& place, std::size_t round);
  static Place& front(Route& route);
  static std::size_t share(const Route& route, std::size_t has_room, std::size_t lanes);
  Turn begin_turn(Rank& rank, Place& place, std::size_t limit);
  Place* end_turn(const Turn& turn, std::size_t unused);

  std::map<Lane, Place> places_;
  std::map<std::uint8_t, Rank> ranks_;
  ByDue sleeping_;
  WallTime now_{};  // of the last turn
  std::uint64_t numbers_ = 0;
  std::uint64_t pages_round_ = 0;
};

}  // namespace spillway::jobs
