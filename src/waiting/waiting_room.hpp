// The people who want to come in, and those who are inside: who is let in at once, who waits, whose
// turn it is, and when a session is over.
//
// Nothing is kept of a visitor before the second contact: the first is answered with a signed
// stamp of its arrival. Only those who were heard of lately are called; the others keep their place
// until Terms::abandon. Counts sessions, not requests.
//
// Pure, and not safe to call from several threads at once. `now` must not step back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "waiting/begin_log.hpp"
#include "waiting/counts.hpp"
#include "waiting/deadlines.hpp"
#include "waiting/estimate.hpp"
#include "waiting/id_index.hpp"
#include "waiting/line.hpp"
#include "waiting/opening.hpp"
#include "waiting/pass.hpp"
#include "waiting/pool.hpp"
#include "waiting/provisional.hpp"
#include "waiting/rates.hpp"
#include "waiting/sessions.hpp"
#include "waiting/terms.hpp"
#include "waiting/ticket.hpp"

namespace spillway::waiting {

// What the waiting room learns of the upstream behind it, each tick.
struct Backend {
  bool is_overloaded = false;
  double pace = 1;  // EntryPace: Terms::active_sessions times this is the most calls in a second
};

class WaitingRoom {
 public:
  explicit WaitingRoom(const Terms& terms);
  // A reload. Everybody keeps place and session, also beyond a lower cap.
  void set_terms(const Terms& terms, Time now);
  const Terms& terms() const { return terms_; }

  enum class Door : std::uint8_t {
    enter,  // goes on, with a pass
    wait,   // gets a stamp, or has a ticket
    full    // no place within Terms::max_wait, or no more tickets
  };
  // A first contact, without a token. `enter`: it gets a pass of generation 0, issued now, which is
  // counted as taken for kSlice and stored nowhere.
  Door arrive(Time now);

  struct View {
    TicketState state = TicketState::waiting;
    std::size_t ahead = 0;            // all in line before it, the called and the absent too
    Time joined{};                    // the arrival that its place goes by
    Time claim_until{};               // if it is processing
    Milliseconds poll{};              // whole seconds: when to ask again, as in Retry-After
    std::optional<Range> estimate{};  // if it is waiting, and the rate of entry is known
  };
  using Session = waiting::Session;
  struct Contact {
    Door door = Door::full;
    std::optional<View> view{};        // `wait`
    std::optional<Session> session{};  // `enter`: issue a pass of its generation
  };
  // A second contact, with a stamp of that arrival. The same id is the same ticket (two tabs). If
  // nobody has to wait any more, a session begins.
  Contact join(const TicketId& id, Time arrived, Time now);

  // A poll. nullopt: unknown, or ended. It counts as present for poll + 50 % + poll from now on.
  std::optional<View> hear(const TicketId& id, Time now);

  // The holder of a ticket asks for the route itself, which is a contact as a poll is. A session
  // begins if the ticket is called and there is room. nullopt: show the page of hear(). A called
  // one without room stays called and goes first when there is room again. Idempotent.
  std::optional<Session> claim(const TicketId& id, Time now);

  using Use = waiting::Use;
  using Renewal = waiting::Renewal;
  // A pass is used that is provisional, or at least kRenewAfter old; more reports do no harm. See
  // sessions.hpp for what counts as copied. Only the first request with a pass gets the next one,
  // and parallel ones keep theirs: if each got it, a copy could renew itself beside the original
  // for ever. If the next one is lost, it is issued again.
  Renewal use(const TicketId& id, std::uint32_t generation, Time issued, Time now);

  // Ends a ticket or a session. false: there is none.
  bool cancel(const TicketId& id, Time now);

  // Ends what is over, calls who may come in. Every 100 ms.
  void tick(Time now, const Backend& backend);
  Counts counts(Time now) const;

 private:
  // Of a ticket that is called: whether it has been seen to come.
  enum class Coming : std::uint8_t {
    fresh,    // it has not had the time to learn of the call
    lapsed,   // it has, and did not come
    at_door,  // it came, and there was no room
  };
  struct Ticket {
    TicketId id;
    Time joined{};
    Time heard{};        // when it was last
    Time fresh_until{};  // called: by then it has learned of it
    Time claim_until{};  // likewise
    std::uint32_t poll_ms = 0;
    std::uint32_t missed = 0;  // calls
    bool is_called = false;
    Coming coming = Coming::fresh;
  };
  // How many of those who are called.
  struct Called {
    std::size_t fresh = 0;
    std::size_t lapsed = 0;
    std::size_t at_door = 0;

    std::size_t all() const { return fresh + lapsed + at_door; }
  };

  Slot find(const TicketId& id) const {
    return index_.find(id, [this](Slot slot) -> const TicketId& { return tickets_[slot].id; });
  }
  std::size_t room(Time now) const;
  bool is_open(Time now) const;
  std::size_t most_tickets() const;
  Session begin(const TicketId& id, std::uint32_t generation, Time now);
  View look(Slot slot, Time now) const;
  void heard(Slot slot, Time now);
  void wait_for(Slot slot);
  Milliseconds poll_of(Slot slot) const;
  void forget(Slot slot);
  void end_ticket(Slot slot, Ended why);
  void end_session(Ended why) { ++counts_.sessions_ended[static_cast<std::size_t>(why)]; }
  std::size_t& of(Coming coming);
  void become(Slot slot, Coming coming);
  void due(Slot slot, Time now);
  void due_while_called(Slot slot, Time now);
  void call(Slot slot, Time now);
  void send_back(Slot slot);
  void call_some(Time now, const Backend& backend);
  void learn(Time now);
  Flow flow() const;

  Terms terms_;
  Pool<Ticket> tickets_;
  IdIndex index_;
  Line line_;
  Deadlines deadlines_;
  Sessions sessions_;
  Provisional provisional_;
  BeginLog begins_;
  Opening opening_;
  Called called_;
  LearnedRate rate_;  // of calls that are not missed, while somebody waits
  LeaveRate leaving_;
  double no_shows_ = 0.1;  // share of calls after which nobody comes at once
  double may_call_ = 1;    // what is left of the pace
  Time last_{};            // tick
  struct {
    double calls = 0;
    double left = 0;
  } since_;        // the last tick
  Counts counts_;  // those since the beginning
};

}  // namespace spillway::waiting
