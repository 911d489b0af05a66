// How fast visitors may be called, from the measured health of the upstream behind the waiting
// room.
//
// A pace is a fraction of Terms::active_sessions per second: with 200 sessions a pace of 0.05 is 10
// calls a second. Pure; one for each waiting room.
#pragma once

#include <cstdint>

#include "base/state.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::waiting {

class EntryPace {
 public:
  struct Health {
    State state = State::normal;
    // The upstream refuses requests or lets them wait although its state is normal: no increase.
    bool is_refusing = false;
    bool are_waiting = false;
    // The pace limited the calls at the last tick (Entry::is_paced).
    bool is_needed = true;
  };

  // The pace to start with and to return to: a twentieth of the sessions a second; but at least
  // five sessions or, if that is less, a quarter of them, and at least one: so a few slots that
  // become free together are taken within a tick.
  explicit EntryPace(std::uint32_t active_sessions) { set_active_sessions(active_sessions); }
  void set_active_sessions(std::uint32_t active_sessions);  // a reload

  // Once per tick, of any length up to a second. 0 while the upstream is overloaded or critical;
  // halved each second while it is elevated (brownout). While it is normal and no request is
  // refused or waits, grown by a tenth each second if needed, else lowered as slowly towards the
  // start: where sessions are short, a room that is full for a moment needs its pace again at once.
  double tick(Time now, const Health& health);

 private:
  double start_ = 1;
  double pace_ = 1;
  Time last_{};
};

}  // namespace spillway::waiting
