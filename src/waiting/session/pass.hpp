// A session as its callers see it, and the outcomes of using a pass.
#pragma once

#include <cstdint>

#include "waiting/ticket/ticket.hpp"
#include "waiting/ticket/tier.hpp"

namespace spillway::waiting {

// A pass is honoured without a look-up for this long after it was issued; a provisional entry
// (generation 0) counts as taken for this long.
inline constexpr Milliseconds kSlice{60'000};
// From this age of a pass on, each request that carries it is reported by use(). A third of the
// slice and not half: so a copy is found within 70 s, whatever it does with the passes that it gets
// (sessions.hpp).
inline constexpr Milliseconds kRenewAfter{20'000};

struct Session {
  TicketId id;
  std::uint32_t generation = 0;
  Time begun{};
};

enum class Use : std::uint8_t {
  renewed,  // goes on; issue a pass of `generation` now, dated back by `age`
  kept,     // goes on with its pass: another request has got the next one
  waits,    // a pass of generation 0 that came late: its visitor has a ticket
  late,     // the same: its visitor gets no ticket now, and keeps the pass
  held,     // the same: no visitor gets a ticket now, since none can be stored
  over,     // no such session, and none can begin: it is a first contact
  copied    // this pass and its successor are both in use: the session has been ended
};

// For a pass of generation 0 that comes late.
struct LatePass {
  Priority priority = 0;  // of the tier for which it was issued
  bool may_join = true;   // its visitor may get a ticket, as at a second contact
};

struct Renewal {
  Use use = Use::over;
  std::uint32_t generation = 0;
  Milliseconds age{};
};

}  // namespace spillway::waiting
