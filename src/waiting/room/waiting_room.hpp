// A waiting room: its queue, its sessions, which visitor is admitted next, and when sessions end.
//
// Nothing is stored for a visitor before its second contact: the first one gets a signed stamp of
// its arrival. Only visitors that polled lately are called; the others keep their places until
// Terms::abandon. Counts sessions, not requests.
//
// Pure, and not thread-safe. `now` must not step back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "waiting/line/deadlines.hpp"
#include "waiting/line/identified_pool.hpp"
#include "waiting/pace/backend.hpp"
#include "waiting/place/journal.hpp"
#include "waiting/place/orders.hpp"
#include "waiting/place/place.hpp"
#include "waiting/place/recovery.hpp"
#include "waiting/resources/stock.hpp"
#include "waiting/room/counts.hpp"
#include "waiting/room/lane.hpp"
#include "waiting/room/report.hpp"
#include "waiting/room/ticket_record.hpp"
#include "waiting/room/view.hpp"
#include "waiting/session/begin_log.hpp"
#include "waiting/session/opening.hpp"
#include "waiting/session/pass.hpp"
#include "waiting/session/provisional.hpp"
#include "waiting/session/recently_ended.hpp"
#include "waiting/session/sessions.hpp"
#include "waiting/session/users.hpp"
#include "waiting/terms/terms.hpp"
#include "waiting/ticket/archive.hpp"
#include "waiting/ticket/ticket.hpp"
#include "waiting/ticket/ticket_events.hpp"

namespace spillway::waiting {

class WaitingRoom {
 public:
  explicit WaitingRoom(const Terms& terms);
  // A reload. All visitors keep their places and sessions, also beyond a lower cap. A start that is
  // over stays in force unless the new one is still to come; then called tickets go back to their
  // places, except those called by hand.
  void set_terms(const Terms& terms, Time now);
  const Terms& terms() const { return terms_; }
  // Whether a first contact has to wait.
  bool has_to_wait(Time now) const { return is_open(now); }
  using Door = waiting::Door;
  // A first contact, without a token. `enter`: it gets a pass of generation 0, issued now, which
  // counts as taken for kSlice and is not stored.
  Door arrive(Time now, Priority priority = 0, const UserKey& user = {});
  // For a program that asks for a ticket: `wait` and `taken` also if no visitor has to wait.
  Door ask_for_ticket(Time now, Priority priority = 0, const UserKey& user = {});
  // The newest ticket or session of that user, who has to be verified.
  std::optional<TicketId> held_by(const UserKey& user) const;

  std::size_t tickets() const { return tickets_.size(); }
  // The used and the total places for such a visitor; when none is free it gets no place.
  Space space(Priority priority, const Wish* wish = nullptr) const;

  using View = waiting::View;
  using Session = waiting::Session;
  using Contact = waiting::Contact;

  // waiting_room_resources.cpp. If true, all enter with a ticket, and every session has a device.
  bool hands_out() const { return !stock_.is_empty(); }
  const Stock& stock() const { return stock_; }
  // The device of a session; empty: it has none.
  std::string resource_of(const TicketId& id) const;
  bool has_session(const TicketId& id) const { return sessions_.has(id); }
  // A second contact, with a stamp of that arrival. The same id is the same ticket (two tabs) and
  // keeps its tier. If no visitor has to wait any more, a session begins, also if its user has
  // Terms::per_user already. `wait` without a view: newcomers are held.
  Contact join(const TicketId& id, Time arrived, Time now, Priority priority = 0,
               const UserKey& user = {}, const Ask& ask = {});
  // Where places are only offered: makes no ticket. `wait` without a view: join() may give one.
  Contact offer(const TicketId& id, Time now, Priority priority = 0, const UserKey& user = {});

  // A contact: the visitor counts as present for poll + 50 % + poll. nullopt: unknown, or ended.
  std::optional<View> hear(const TicketId& id, Time now);
  // The same for a visitor that gets the page, which may only reload, after kPageReload.
  std::optional<View> show_page(const TicketId& id, Time now);
  // The same for a poll. Polling too often (poll_limit.hpp) does not cost a visitor its place.
  std::optional<View> ask(const TicketId& id, Time now);
  // How it ended, if that was lately and it has neither place nor session.
  std::optional<End> end_of(const TicketId& id, Time now) const;

  // The holder of a ticket requests the route itself, which is a contact like a poll. A session
  // begins if the ticket is called and there is room. nullopt: show_page(). A called visitor
  // without room stays called and goes first when there is room again. Idempotent.
  std::optional<Session> claim(const TicketId& id, Time now);

  // The first response of a session that claim() began was a failure: the visitor is back at its
  // own place, and is called again. false: nothing has changed, since it has sent another request
  // meanwhile, or its entry has failed Terms::attempts times: then it stays inside.
  bool go_back(const TicketId& id, Time now);

  // A called visitor needs more time: it gets Terms::claim from now on, Terms::claim_extensions
  // times per call. Others are called meanwhile, so no session waits for it. nullopt: unknown, or
  // ended; a view of another state, or without extensions left: nothing has changed.
  struct Grant {
    View view;
    bool is_granted = false;
  };
  std::optional<Grant> extend(const TicketId& id, Time now);

  // waiting_room_reserve.cpp. A waiting visitor may go away: its place becomes a reservation, kept
  // for ReserveTerms::keep since its last contact, and called while it is away. Then it has
  // ReserveTerms::claim to come, again after each missed call. `user`: TicketEvent::user, noted
  // once. Not granted: none are given, not to this visitor, or it has one.
  std::optional<Grant> reserve(const TicketId& id, Time now, std::string user = {});

  using Use = waiting::Use;
  using Renewal = waiting::Renewal;
  // Use of a pass that is provisional, or at least kRenewAfter old; repeated calls do no harm. See
  // sessions.hpp for what counts as copied. Only the first request with a pass gets the next one,
  // and parallel ones keep theirs: if each got it, a copy could renew itself beside the original
  // for ever. If no request comes with the next one, each gets it.
  // A pass of generation 0: its visitor was let in without a wait. It is good once, for kSlice and
  // then until Terms::idle is over: shown after kSlice, when another may have its place, it takes a
  // free place or else (`waits`) gets a ticket in its tier, as if it had arrived when the pass was
  // issued. A copy of it is the same ticket and session.
  Renewal use(const TicketId& id, std::uint32_t generation, Time issued, Time now,
              const UserKey& user = {}, const LatePass& late = {});
  // Whether use() would give it a ticket.
  bool takes_ticket(const TicketId& id, Time issued, Time now) const;

  // A response of that session is still open: it counts as used.
  void stay(const TicketId& id, Time now) { sessions_.stay(id, now, terms_); }
  // A ticket's event streams are numbered, and the newest one stays: one stream per ticket.
  // follow() begins one; 0: unknown, or ended.
  std::uint32_t follow(const TicketId& id);
  bool is_superseded(const TicketId& id, std::uint32_t stream) const;

  // Ends a ticket or a session; or an entry that is no session yet, if its first pass was issued
  // then. false: there is none.
  bool cancel(const TicketId& id, Time now, Ended why = Ended::cancelled,
              std::optional<Time> issued = std::nullopt);

  // waiting_room_operator.cpp: the operator's view and decisions.
  const Orders& orders() const { return orders_; }
  void hold_open(bool is_held);
  // A called ticket goes back to its place at its next contact, and has missed no call.
  void pause(bool is_paused);
  void stop_calls();  // a pause that also takes back calls by hand
  void tell(std::string message);
  // All tickets end within some ticks, and are unknown at once. `false` immediately ends the rest
  // of them, and then lets newcomers in again.
  void end_room(bool has_ended);
  // Calls the next ticket whose visitor is at its page, of this type if it is not empty; also
  // beyond the pace and while paused, but no more tickets than sessions could begin.
  std::variant<TicketId, NotCalled> call_next(Time now, std::string_view type = {});
  // Under the same limit, calls this ticket, wherever it stands, also if its visitor is away.
  std::variant<TicketId, NotCalled> call_one(const TicketId& id, Time now);
  // Moves it behind `ahead` tickets of its tier, or behind all. It gets the arrival time of the
  // ticket that it then stands before, or behind.
  Moved move(const TicketId& id, std::size_t ahead);
  using Report = waiting::Report;
  std::optional<Report> inspect(const TicketId& id, Time now) const;
  using Cursor = waiting::Cursor;
  // The next `most` in line behind that ticket, or behind its arrival if it has ended, lane by
  // lane. `tier`: only this priority; `type`: only this lane.
  std::vector<Report> list_line(const std::optional<Cursor>& after, std::size_t most, Time now,
                                std::optional<Priority> tier = std::nullopt,
                                std::string_view type = {}) const;
  // The newest `most` of one user, the newest first.
  std::vector<Report> list_user(const UserKey& user, std::size_t most, Time now) const;
  // Sessions in the `most` session slots from `at` on, which moves on; end_slot(): no more.
  std::vector<Report> list_sessions(Slot& at, std::size_t most) const;
  bool has_sessions_from(Slot at) const { return at < sessions_.end_slot(); }
  std::vector<RecentlyEnded::Entry> list_ended(const std::optional<TicketId>& before,
                                               std::size_t most, Time now) const {
    return ended_.list(before, most, now);
  }

  // waiting_room_places.cpp: the changes to store so that places survive the process. After
  // keep_journal(): all since the last call; nullopt: too many, so store all of list().
  // `with_uses`: also the sessions that were used since the last call with it; their last use has
  // changed.
  void keep_journal();
  std::optional<std::vector<TicketId>> take_changed(bool with_uses = false);
  void look_up(std::span<const TicketId> ids, Time now, std::vector<Place>& places) const;
  struct Listing {
    Slot ticket = 0, session = 0;
  };
  // Some hundreds of all tickets and sessions. Begin with {}; false: these were the last.
  bool list(Listing& at, std::vector<Place>& places) const;
  // Puts all where they were; tickets count as polled now, sessions as used as long ago as when the
  // former process ended. Call it before any visitor has come.
  void restore(const Written& written, Time now);
  // A visitor that is not known, and had a ticket or arrived at `time`, joins again if the former
  // process may not have stored that.
  void recover(const TicketId& id, Time time, Time now, Priority priority = 0,
               const UserKey& user = {}, const std::optional<CarriedWish>& wish = std::nullopt);

  // waiting_room_shared.cpp, for a room of several proxies: reads that change nothing, and how late
  // reports are made up for. peek(): as hear(), but no contact. may_be_inside(): whether a pass
  // that was issued then may be valid, as far as this proxy knows.
  std::optional<View> peek(const TicketId& id) const;
  bool may_be_inside(const TicketId& id, std::uint32_t generation, Time issued, Time now) const;
  Milliseconds first_pass_life() const { return std::max(kSlice, terms_.idle); }
  // Whether recover() may make a ticket for a token of that time.
  bool may_recover(const TicketId& id, Time time, Time now) const {
    return !orders_.has_ended && recovery_.covers(id, time, now);
  }
  // Counts one of its polls, by this proxy only. false: it is over the limit.
  bool take_poll(const TicketId& id);
  // As arrive() or ask_for_ticket(), but lets no visitor in and counts nothing.
  Door look_at_door(Time now, Priority priority, const UserKey& user, bool wants_ticket) const;
  // Visitors that were turned away since the last count, and whether any had to wait.
  struct Turned {
    bool has_stamped = false;
    std::uint32_t full = 0;
    std::uint32_t taken = 0;

    template <class Self, class Archive>
    static void fields(Self& self, Archive& archive) {
      archive(self.has_stamped, self.full, self.taken);
    }
  };
  void count(const Turned& turned, Time now);
  // No visitor's poll could arrive for a while: each counts as seen now, and calls begin again.
  void pardon(Time now);
  // From a proxy that was cut off: its sessions and tickets, also if they ended here by silence;
  // and those given up there (Kind::left, Kind::ended), which end here too.
  void bring_back(std::span<const Place> places, Time now);
  // For this proxy alone, while no row is applied: until the next tick.
  void hold_newcomers() { newcomers_ = Newcomers::held; }
  void admit_newcomers() { newcomers_ = Newcomers::admitted; }
  // For rows of this proxy alone (ticket_events.hpp): each proxy notes the events of its rows.
  void note_events(bool notes) { ticket_events_.hush(!notes); }

  // waiting_room_events.cpp. Records these events only; a position at its visitor's next poll.
  void want_events(const EventSet& events) { ticket_events_.want(events); }
  std::vector<TicketEvent> take_events(std::size_t most) { return ticket_events_.take(most); }

  // Ends tickets and sessions whose time is over, and calls the next tickets. Every 100 ms.
  void tick(Time now, const Backend& backend);
  Counts counts(Time now) const;

 private:
  friend struct Archived;
  // All but the process's own parts: the journal, events, the events wanted, and whether newcomers
  // are held.
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.terms_);
    if constexpr (Archive::kReads) self.stock_ = Stock(self.terms_.resources);
    archive(self.stock_, self.tickets_, self.lanes_, self.deadlines_, self.sessions_, self.users_,
            self.recovery_, self.ended_, self.provisional_, self.begins_, self.opening_,
            self.orders_, self.swept_, self.turn_, self.last_, self.counts_);
    if constexpr (Archive::kReads) {
      if (!self.has_all_lanes()) archive.refuse();
    }
  }

  using Ticket = TicketRecord;
  Slot find(const TicketId& id) const { return tickets_.find(id); }
  Place place_of(const TicketId& id, Time now) const;
  Place place_of_ticket(Slot slot) const;
  Place with_allotment(Place place) const;
  std::optional<Wish> wish_of(const Place& place) const;
  bool restore_session(const Place& place, Time used, Time now);
  // The lane of its type; the only one where nothing is handed out.
  std::size_t lane_number(Slot slot) const { return hands_out() ? stock_.wish(slot).type : 0; }
  Lane& lane(Slot slot) { return lanes_[lane_number(slot)]; }
  const Lane& lane(Slot slot) const { return lanes_[lane_number(slot)]; }
  TieredLine& line(Slot slot) { return lane(slot).line; }
  const TieredLine& line(Slot slot) const { return lane(slot).line; }
  TieredLine::Member member(Slot slot) const {
    return {tickets_[slot].priority, slot, stock_.wish(slot).kind};
  }
  Called called() const;
  std::size_t in_line() const;
  void count_types(Counts& counts) const;
  std::size_t capacity_of(const Lane& lane) const;
  std::size_t sessions_of(const Lane& lane) const;
  bool is_in_use(const Lane& lane) const;
  std::size_t overdue(const Lane& lane) const;
  bool has_all_lanes() const;
  std::vector<Lane> lanes_of(const Terms& terms) const;
  void change_resources(const Terms& terms, Time now);
  void change_pace(const Terms& terms, Time now);
  KindSet kinds_to_call(std::size_t lane) const;
  Slot next_in_line(std::size_t free, std::size_t& steps);
  Slot take_turn(std::size_t free, std::size_t& steps);
  bool has_resource(Slot slot, Time now);
  bool has_room_by_hand(Time now) const;
  TicketId call_by_hand(Slot slot, Time now);
  bool may_reserve(const Ticket& ticket) const;
  void keep_place(Slot slot);
  bool is_away(Slot slot) const { return line(slot).is_away(member(slot)); }
  Milliseconds kept_for(const Ticket& ticket) const;  // since its last contact
  double let_in_while_called(const Lane& lane, std::uint8_t kind) const;
  bool may_call_away(std::size_t number, std::uint8_t kind, std::size_t free) const;
  const PassedOver* first_passed_over(std::size_t number, std::size_t free) const;
  void pass_over(Slot slot);
  bool bring_forward(Slot slot);
  void go_away(Slot slot);
  void reserve_anew(Time now);
  bool has_line() const { return tickets_.size() > called().away; }
  std::optional<Allotment> allotment(Slot slot) const;
  View view_of_session(const TicketId& id) const;
  void set_deadline(Slot slot, Time due);
  Time end_of_own_wait(Slot slot) const;
  void end_own_wait_at(Slot slot, Time end);
  void prolong_own_wait(Slot slot, Time now);
  Slot insert(const TicketId& id, Time joined, Priority priority, const Wish& wish);
  void stand(Slot slot, Order order);  // moves it there in its tier
  void note_ties(Slot slot);
  std::size_t room(Time now) const;
  bool is_open(Time now) const;
  bool is_full(Priority priority, const Wish* wish) const {
    return space(priority, wish).free() <= 0;
  }
  bool refuses(const UserKey& user) const;
  // Without a wish: its lane is not known yet, or does not matter.
  Door would_give_ticket(Priority priority, const UserKey& user, const Wish* wish) const;
  Door counted(Door door);
  void stamp(Time now);
  CallsWithin calls_within(Milliseconds wait, const Lane& lane) const;
  double places_within(Milliseconds wait, const Lane& lane) const;
  Session begin(const TicketId& id, std::uint32_t generation, Time now);
  bool is_unspent(const TicketId& id, std::uint32_t generation, Time issued, Time now) const;
  bool was_inside(const TicketId& id, std::uint32_t generation, Time issued, Time now) const;
  bool has_no_ticket_left() const {
    return orders_.has_ended || tickets_.size() >= terms_.max_tickets;
  }
  Renewal come_late(const TicketId& id, Time issued, Time now, const UserKey& user,
                    const LatePass& late);
  View seat(const TicketId& id, Time joined, Time now, Priority priority, const UserKey& user,
            const Wish& wish);
  std::uint32_t extensions_left(const Ticket& ticket) const;
  View look(Slot slot) const;
  Why why(const Ticket& ticket, const TieredLine::Ahead& ahead,
          const std::optional<Range>& estimate) const;
  static bool is_later(const Ticket& ticket, const Range& estimate);
  void note_told(Slot slot, const Learned::Course& course, Time now);
  std::optional<Learned::Course> course(Slot slot, const TieredLine::Ahead& ahead) const;
  void heard(Slot slot, Time now);
  void wait_for(Slot slot);
  Milliseconds poll_of(const TieredLine::Ahead& ahead,
                       const std::optional<Learned::Course>& course) const;
  Milliseconds poll_before_start(const TicketId& id, Time now) const;
  void forget(Slot slot);
  void end_ticket(Slot slot, Ended why, Time now);
  void note(Event event, Slot slot, Time now, std::uint32_t position = 0);
  void note_reserved(Slot slot, Time now, std::string user);
  void note_end(Slot slot, Ended why, Time now);
  void add_allotment(TicketEvent& ticket_event, Slot slot) const;
  void note_way(Slot slot, std::uint32_t ahead, Time now);
  void end_session(const TicketId& id, Ended why, Time now);
  void count_call(Slot slot, int by);
  void become(Slot slot, Coming coming);
  void due(Slot slot, Time now);
  void due_while_called(Slot slot, Time now);
  void call(Slot slot, Time now);
  void send_back(Slot slot);
  void withdraw_call(Slot slot, Time now);
  bool is_held_back(const Ticket& ticket) const {
    return orders_.is_paused && ticket.called == Call::in_turn;
  }
  void end_some(std::size_t most, Time now);
  void call_some(Time now, const Backend& backend);
  void learn(Time now);
  void order_anew(Time now);
  bool has_begun() const { return terms_.start.is_over(last_); }  // as of the last tick
  bool is_held() const { return newcomers_ == Newcomers::held; }
  bool calls_nobody() const { return orders_.is_paused || is_held(); }  // except by hand

  Terms terms_;
  IdentifiedPool<Ticket> tickets_;
  Stock stock_;
  std::vector<Lane> lanes_;  // one, if the room has no resources
  Deadlines deadlines_;
  Sessions sessions_;
  Users users_;
  Journal journal_;
  TicketEvents ticket_events_;
  Recovery recovery_;
  RecentlyEnded ended_;
  Provisional provisional_;
  BeginLog begins_;
  Opening opening_;
  Orders orders_;
  Slot swept_ = 0;  // once the room has ended: tickets below this slot have ended
  CallTurn turn_;
  Time last_{};  // the last tick
  Newcomers newcomers_ = Newcomers::admitted;
  Counts counts_;  // the totals since the beginning
};

}  // namespace spillway::waiting
