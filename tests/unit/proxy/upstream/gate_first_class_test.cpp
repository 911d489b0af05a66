// What the first class gets of slots that abandoned requests of lower classes hold.
#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "proxy/net/event_loop.hpp"
#include "proxy/net/mailbox.hpp"
#include "proxy/upstream/gate.hpp"

namespace spillway::proxy {
namespace {

using OfferKind = dispatch::Offer::Kind;
using std::chrono::milliseconds;

constexpr ClassId kFirst{0}, kLast{2};

// A gate whose slots are all held by requests of one class.
struct FullGate {
  explicit FullGate(std::uint32_t slots, ClassId held_by = kLast)
      : gate(dispatch(slots), classes()), tickets(slots) {
    for (Ticket& ticket : tickets) {
      CHECK(gate.enter(ticket, {.traffic_class = held_by}, now).kind == OfferKind::granted);
      held.emplace_back(gate, held_by, now);
    }
    for (Ticket* ticket : {&first, &second, &last}) ticket->mailbox = &mailbox;
  }
  ~FullGate() {
    gate.cancel(second, now);
    gate.cancel(last, now);
    loop.poll();
  }

  static config::Dispatch dispatch(std::uint32_t slots) {
    config::Dispatch settings;
    settings.concurrency = slots;
    return settings;
  }
  static std::vector<config::TrafficClass> classes() {
    std::vector<config::TrafficClass> classes(3);
    for (std::size_t c = 0; c < classes.size(); ++c) {
      classes[c].name = "P" + std::to_string(c);
      classes[c].max_wait = Milliseconds{400};
    }
    return classes;
  }
  OfferKind wait(Ticket& ticket, ClassId traffic_class) {
    return gate.enter(ticket, {.traffic_class = traffic_class}, now).kind;
  }
  bool is_granted(const Ticket& ticket) {
    loop.poll();
    return ticket.state == dispatch::Waiter::State::granted;
  }

  TimePoint now = Clock::now();
  EventLoop loop;
  Mailbox mailbox{loop};
  Gate gate;
  std::vector<Ticket> tickets;
  Ticket first, second, last;
  std::vector<Slot> held;
};

TEST_CASE("an abandoned request gives its slot to the first class, and it is kept for that") {
  FullGate full(15);
  CHECK(full.wait(full.last, kLast) == OfferKind::queued);
  CHECK(full.wait(full.first, kFirst) == OfferKind::queued);
  full.now += milliseconds(99);
  CHECK_FALSE(full.held[0].give_to_first(full.now));  // it has not waited for long
  full.now += milliseconds(1);
  std::optional<WorkWithoutSlot> work = full.held[0].give_to_first(full.now);
  REQUIRE(work);
  CHECK_FALSE(full.held[0]);
  CHECK(full.is_granted(full.first));

  CHECK(full.wait(full.second, kFirst) == OfferKind::queued);
  full.now += milliseconds(100);
  CHECK_FALSE(full.held[1].give_to_first(full.now));  // more than an eighth of the slots
  full.gate.leave(kFirst, milliseconds(1), full.now);
  CHECK(full.is_granted(full.second));
  full.gate.leave(kFirst, milliseconds(1), full.now);
  full.gate.expire(full.now);
  CHECK_FALSE(full.is_granted(full.last));  // it is not for the lower classes

  work.reset();  // the upstream has ended it
  full.gate.expire(full.now);
  CHECK(full.is_granted(full.last));
  full.gate.leave(kLast, milliseconds(1), full.now);
}

TEST_CASE("the first class is given a slot after a quarter of its deadline, if that is sooner") {
  FullGate full(16);
  const dispatch::Terms hurried{.traffic_class = kFirst, .deadline = {full.now + milliseconds(40)}};
  CHECK(full.gate.enter(full.first, hurried, full.now).kind == OfferKind::queued);
  CHECK_FALSE(full.held[0].give_to_first(full.now + milliseconds(9)));
  full.now += milliseconds(10);
  const auto work = full.held[0].give_to_first(full.now);
  CHECK(work);
  CHECK(full.is_granted(full.first));
  full.gate.leave(kFirst, milliseconds(1), full.now);
}

TEST_CASE("slots of a former configuration are given to the first class of the present one") {
  FullGate former(16);
  Gate present(FullGate::dispatch(16), FullGate::classes(), former.gate.slots());
  CHECK(present.enter(former.last, {.traffic_class = kLast}, former.now).kind == OfferKind::queued);
  CHECK(present.enter(former.first, {.traffic_class = kFirst}, former.now).kind ==
        OfferKind::queued);
  former.now += milliseconds(100);
  const auto work = former.held[0].give_to_first(former.now);
  CHECK(work);
  CHECK(former.is_granted(former.first));
  present.leave(kFirst, milliseconds(1), former.now);
  CHECK_FALSE(former.is_granted(former.last));  // kept there, too
  CHECK(present.cancel(former.last, former.now) == Withdrawal::withdrawn);
  former.held.clear();
}

TEST_CASE("a slot that is kept for the first class is so below a limit that falls") {
  FullGate full(16);
  CHECK(full.wait(full.first, kFirst) == OfferKind::queued);
  full.now += milliseconds(100);
  const auto work = full.held[0].give_to_first(full.now);
  CHECK(work);
  CHECK(full.is_granted(full.first));
  full.gate.leave(kFirst, milliseconds(1), full.now);
  full.gate.limit_to(7, full.now);
  full.gate.expire(full.now);
  for (std::size_t n = 1; n < 10; ++n) full.held[n].release(full.now);
  CHECK(full.wait(full.last, kLast) == OfferKind::granted);  // an eighth of seven is none
  full.gate.leave(kLast, milliseconds(1), full.now);
}

TEST_CASE("slots are not given up by the first class, nor for a lower one, nor of fewer than 8") {
  FullGate of_its_own(16, kFirst);
  CHECK(of_its_own.wait(of_its_own.first, kFirst) == OfferKind::queued);
  of_its_own.now += milliseconds(200);
  CHECK_FALSE(of_its_own.held[0].give_to_first(of_its_own.now));
  CHECK(of_its_own.gate.cancel(of_its_own.first, of_its_own.now) == Withdrawal::withdrawn);

  FullGate for_lower(16);
  CHECK(for_lower.wait(for_lower.last, ClassId{1}) == OfferKind::queued);
  for_lower.now += milliseconds(200);
  CHECK_FALSE(for_lower.held[0].give_to_first(for_lower.now));

  FullGate few(7);
  CHECK(few.wait(few.first, kFirst) == OfferKind::queued);
  few.now += milliseconds(200);
  CHECK_FALSE(few.held[0].give_to_first(few.now));
  CHECK(few.gate.cancel(few.first, few.now) == Withdrawal::withdrawn);
}

}  // namespace
}  // namespace spillway::proxy
