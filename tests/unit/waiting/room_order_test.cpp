// The whole waiting room over random operations, beside a slow one: places, presence, calls, ends
// and the caps are the same after each of them.
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "slow_room.hpp"
#include "support/rounds.hpp"

namespace spillway::waiting {
namespace {

Terms busy_terms() {
  Terms terms = terms_for(6, When::always);
  terms.per_minute = 25;
  terms.session_ttl = Milliseconds(60'000);
  terms.idle = Milliseconds(15'000);
  terms.claim = Milliseconds(10'000);
  terms.claim_extensions = 2;
  terms.abandon = Milliseconds(40'000);
  terms.max_wait = Milliseconds(86'400'000);
  terms.shortest_poll = terms.longest_poll = Milliseconds(5'000);
  return terms;
}

// What has happened, so that the comparison is one of all that may happen.
struct Course {
  std::size_t differing = 0;
  std::string first{};  // of these
  std::size_t joined = 0;
  std::size_t calls = 0;
  std::size_t waited_at_door = 0;
  std::size_t went_back = 0;
  std::size_t moved = 0;
  std::size_t extended = 0;
  std::size_t full_minutes = 0;  // ticks in which Terms::per_minute alone held back a session
  std::uint64_t abandoned = 0;
  std::uint64_t not_claimed = 0;
};

// Both rooms, and visitors by number who do at random what a visitor may.
template <class Room>
class Both {
 public:
  Both(const Terms& terms, std::uint64_t seed)
      : terms_(terms), room_(terms), slow_(terms), random_(seed) {
    EventSet events{};
    events[static_cast<std::size_t>(Event::called)] = true;
    room_.want_events(events);
  }

  Course play(std::size_t operations) {
    for (std::size_t n = 0; n < operations; ++n) {
      operate();
      if (n % 32 == 0) compare_lines();
    }
    course_.abandoned = ended(Ended::abandoned);
    course_.not_claimed = ended(Ended::not_claimed);
    return course_;
  }

 private:
  void same(bool is_same, std::string_view what) {
    if (is_same) return;
    if (course_.differing++ == 0) course_.first = what;
  }
  std::uint64_t below(std::uint64_t end) { return random_.next() % end; }
  std::uint64_t ended(Ended why) const {
    const auto found = slow_.ended().find(why);
    return found == slow_.ended().end() ? 0 : found->second;
  }
  TicketId somebody() {
    if (slow_.line().empty() || below(50) == 0) return id_of(below(next_ + 1));
    return slow_.line()[below(slow_.line().size())].id;
  }
  // Of those who are called, mostly.
  TicketId somebody_called() {
    const std::size_t first = slow_.line().empty() ? 0 : below(slow_.line().size());
    for (std::size_t n = 0; n < slow_.line().size(); ++n) {
      const auto& ticket = slow_.line()[(first + n) % slow_.line().size()];
      if (ticket.is_called) return ticket.id;
    }
    return somebody();
  }
  TicketId somebody_inside() {
    if (slow_.sessions().empty()) return somebody();
    return std::next(slow_.sessions().begin(),
                     static_cast<std::ptrdiff_t>(below(slow_.sessions().size())))
        ->first;
  }

  void operate() {
    const std::uint64_t what = below(100);
    if (what < 20) return tick();
    if (what < 28) return join();
    if (what < 64) return poll(somebody());
    if (what < 78) return claim(somebody_called());
    if (what < 80) return claim(somebody());
    if (what < 83) return extend(somebody_called());
    if (what < 87) return go_back(somebody_inside());
    if (what < 90) return move(somebody());
    if (what < 93) return cancel(somebody());
    if (what < 95) return cancel(somebody_inside());
    if (what < 96) return call_next();
    stay(somebody_inside());
  }

  // Mostly a usual one; sometimes nobody is heard of for long.
  void tick() {
    now_ += Milliseconds(below(60) == 0 ? 3'000 + below(20'000) : 100 * (1 + below(5)));
    room_.tick(now_, kHealthy);
    slow_.pass(now_);
    const std::size_t free = slow_.room(now_);
    const bool are_called = slow_.called() > 0;
    const std::size_t calls = take_calls();
    const Counts counts = room_.counts(now_);
    if (free == 0) same(calls == 0, "a call without room");
    const bool must_call = free > 0 && !are_called && slow_.present() > 0 && calls == 0;
    same(!must_call || counts.entry.is_paced, "no call although there is room");
    if (free == 0 && slow_.sessions().size() < terms_.active_sessions) ++course_.full_minutes;
    compare(counts);
  }
  // Each is of whom the slow room would have called.
  std::size_t take_calls() {
    const std::vector<TicketEvent> calls = room_.take_events(SIZE_MAX);
    for (const TicketEvent& call : calls) {
      SlowRoom::Ticket* const next = slow_.next();
      same(next != nullptr && next->id == call.id, "another one was called");
      if (next != nullptr) slow_.call(*next, now_);
    }
    course_.calls += calls.size();
    return calls.size();
  }
  void join() {
    const TicketId id = id_of(next_++);
    const auto priority = static_cast<Priority>(below(16) == 0 ? 1 + below(2) : 0);
    const Time arrived = now_ - Milliseconds(below(4) == 0 ? below(30'000) : below(50));
    const auto contact = room_.join(id, arrived, now_, priority);
    if (contact.door == Door::full) return;  // an estimate: it has no place, and is unknown
    slow_.join(id, arrived, now_, priority);
    ++course_.joined;
    compare(contact.view, id);
  }
  void poll(const TicketId& id) {
    if (SlowRoom::Ticket* const ticket = slow_.find(id)) slow_.hear(*ticket, now_);
    compare(room_.hear(id, now_), id);
  }
  // Some go on asking and never come.
  void claim(const TicketId& id) {
    if (id.bytes[0] % 4 == 0) return poll(id);
    const bool is_called = slow_.find(id) != nullptr && slow_.find(id)->is_called;
    const bool is_in = slow_.claim(id, now_);
    same(room_.claim(id, now_).has_value() == is_in, "a claim");
    if (is_called && !is_in) ++course_.waited_at_door;
  }
  void extend(const TicketId& id) {
    SlowRoom::Ticket* const ticket = slow_.find(id);
    const auto extension = room_.extend(id, now_);
    same(extension.has_value() == (ticket != nullptr), "extend() knows it");
    if (ticket == nullptr) return;
    const bool is_granted = slow_.extend(*ticket, now_);
    same(extension && extension->is_granted == is_granted, "an extension");
    if (is_granted) ++course_.extended;
  }
  void go_back(const TicketId& id) {
    const bool goes = slow_.go_back(id, now_);
    same(room_.go_back(id, now_) == goes, "whether it goes back");
    if (goes) ++course_.went_back;
  }
  void move(const TicketId& id) {
    const std::size_t ahead = below(5) == 0 ? SIZE_MAX : below(slow_.line().size() + 2);
    const Moved moved = slow_.move(id, ahead);
    same(room_.move(id, ahead) == moved, "whether it is moved");
    if (moved == Moved::moved) ++course_.moved;
  }
  void cancel(const TicketId& id) {
    same(room_.cancel(id, now_) == slow_.cancel(id), "whether there was one to cancel");
  }
  void call_next() {
    const auto called = room_.call_next(now_);
    const bool is_full =
        slow_.count(Coming::fresh) + slow_.count(Coming::at_door) >= slow_.room(now_);
    const auto expected = slow_.next() == nullptr ? NotCalled::nobody_present : NotCalled::no_room;
    if (slow_.next() == nullptr || is_full) {
      const NotCalled* const why = std::get_if<NotCalled>(&called);
      same(why != nullptr && *why == expected, "why nobody is called by hand");
    } else {
      same(take_calls() == 1, "a call by hand");
    }
  }
  void stay(const TicketId& id) {
    room_.stay(id, now_);
    if (slow_.sessions().contains(id)) slow_.stay(id, now_);
  }

  void compare(const std::optional<View>& view, const TicketId& id) {
    const SlowRoom::Ticket* const ticket = slow_.find(id);
    if (ticket == nullptr) {
      const bool is_inside = slow_.sessions().contains(id);
      same(view.has_value() == is_inside, "who is known");
      return same(!view || view->state == TicketState::fulfilled, "who is inside");
    }
    same(view.has_value(), "who has a ticket");
    if (!view) return;
    same((view->state == TicketState::processing) == ticket->is_called, "who is called");
    same(view->ahead == slow_.ahead(id), "how many are ahead");
    same(view->joined == ticket->joined, "the arrival");
    if (ticket->is_called) same(view->claim_until == ticket->claim_until, "the end of a call");
  }
  void compare(const Counts& counts) {
    same(counts.waiting + counts.processing == slow_.line().size(), "tickets");
    same(counts.processing == slow_.called(), "calls");
    same(counts.present == slow_.present(), "who was heard of lately");
    same(counts.active == slow_.sessions().size(), "sessions");
    same(counts.active <= terms_.active_sessions, "the cap");
    same(slow_.begun_since(now_ - Milliseconds(59'999)) <= terms_.per_minute, "the minute's cap");
    for (const Ended why : {Ended::abandoned, Ended::not_claimed, Ended::cancelled})
      same(counts.tickets_ended[static_cast<std::size_t>(why)] == ended(why), name(why));
  }
  void compare_lines() {
    const auto reports = room_.list_line(std::nullopt, SIZE_MAX, now_);
    same(reports.size() == slow_.line().size(), "the length of the line");
    for (std::size_t n = 0; n < std::min(reports.size(), slow_.line().size()); ++n) {
      const SlowRoom::Ticket& ticket = slow_.line()[n];
      same(reports[n].id == ticket.id, "the order");
      same(reports[n].is_present == ticket.is_present, "presence");
      same(reports[n].missed == ticket.missed, "missed calls");
      same(reports[n].heard == ticket.heard, "when it was heard of");
    }
  }

  const Terms terms_;
  Room room_;
  SlowRoom slow_;
  Random random_;
  Time now_ = kStart;
  std::uint64_t next_ = 0;
  Course course_;
};

// Waiting rooms that are wrong now and then.
struct SendsToTheEnd : WaitingRoom {
  using WaitingRoom::WaitingRoom;
  bool go_back(const TicketId& id, Time now) {
    const bool goes = WaitingRoom::go_back(id, now);
    if (goes) move(id, SIZE_MAX);
    return goes;
  }
};
struct HearsBadly : WaitingRoom {
  using WaitingRoom::WaitingRoom;
  std::optional<View> hear(const TicketId& id, Time now) {
    if (++polls_ % 100 != 0) return WaitingRoom::hear(id, now);
    const auto report = inspect(id, now);
    return report ? std::optional(report->view) : std::nullopt;
  }
  std::size_t polls_ = 0;
};
struct HasFavourites : WaitingRoom {
  using WaitingRoom::WaitingRoom;
  Contact join(const TicketId& id, Time arrived, Time now, Priority priority) {
    return WaitingRoom::join(id, arrived - Milliseconds(++joined_ % 100 == 0 ? 5'000 : 0), now,
                             priority);
  }
  std::size_t joined_ = 0;
};

}  // namespace

TEST_CASE("a waiting room does as a plain one does, over random operations") {
  const std::size_t operations = support::plays_all_rounds() ? 500'000 : 60'000;
  for (const std::uint64_t seed : {1u, 2u}) {
    const Course course = Both<WaitingRoom>(busy_terms(), seed).play(operations);
    CAPTURE(seed);
    CAPTURE(course.first);
    CHECK(course.differing == 0);
    MESSAGE("joined " << course.joined << ", calls " << course.calls << ", no room at the door "
                      << course.waited_at_door << ", went back " << course.went_back << ", moved "
                      << course.moved << ", extended " << course.extended << ", full minutes "
                      << course.full_minutes << ", abandoned " << course.abandoned
                      << ", not claimed " << course.not_claimed);
    for (const std::size_t times :
         {course.joined, course.calls, course.went_back, course.moved, course.extended,
          course.full_minutes, std::size_t{course.abandoned}, std::size_t{course.not_claimed}})
      CHECK(times > 50);
    CHECK(course.waited_at_door > 5);
  }
}

TEST_CASE("control: waiting rooms that are wrong now and then are told from the plain one") {
  CHECK(Both<SendsToTheEnd>(busy_terms(), 1).play(10'000).differing > 0);
  CHECK(Both<HearsBadly>(busy_terms(), 1).play(10'000).differing > 0);
  CHECK(Both<HasFavourites>(busy_terms(), 1).play(10'000).differing > 0);
}

}  // namespace spillway::waiting
