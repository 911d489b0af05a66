#include "proxy/upstream/gate.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <initializer_list>
#include <optional>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "proxy/net/task.hpp"

namespace spillway::proxy {
namespace {

constexpr std::size_t kThreads = 8;
constexpr std::size_t kRequestsAtOnce = 16;  // by thread
constexpr int kRequestsEach = 300;

std::vector<config::TrafficClass> three_classes() {
  std::vector<config::TrafficClass> classes(3);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    classes[c].name = "P" + std::to_string(c);
    classes[c].weight = std::array{8.0, 3.0, 1.0}[c];
    classes[c].max_queue = 24;
  }
  return classes;
}

config::Dispatch dispatch(std::uint32_t concurrency) {
  config::Dispatch settings;
  settings.concurrency = concurrency;
  settings.evict = {ClassId{2}, ClassId{1}};
  return settings;
}

// What all threads saw together.
struct Tally {
  std::atomic<int> running{0}, most_running{0};
  std::atomic<std::uint64_t> granted{0}, queued{0}, granted_later{0}, refused{0}, cancelled{0},
      expired{0}, evicted{0};
  std::atomic<std::size_t> unfinished{kThreads * kRequestsAtOnce};

  void enter_slot() {
    const int now = running.fetch_add(1) + 1;
    int most = most_running.load();
    while (now > most && !most_running.compare_exchange_weak(most, now)) {
    }
  }
  void leave_slot() { running.fetch_sub(1); }
};

// One worker: a thread with its own loop and mailbox, on which requests come and go.
class Loop {
 public:
  Loop(Gate& gate, Tally& tally, std::uint64_t seed) : gate_(gate), tally_(tally), random_(seed) {}

  void start(std::function<void()> all_done) {
    all_done_ = std::move(all_done);
    for (std::size_t i = 0; i < kRequestsAtOnce; ++i) {
      parkings_.emplace_back();
      loop_.post([this, i] { requests(parkings_[i]); });
    }
    thread_ = std::thread([this] { loop_.run(); });
  }
  void stop() { loop_.stop(); }
  void join() { thread_.join(); }

 private:
  std::size_t below(std::size_t bound) { return random_.next() % bound; }

  Detached requests(Parking& parking) {
    for (int n = 0; n < kRequestsEach; ++n) {
      Ticket ticket;
      ticket.mailbox = &mailbox_;
      ticket.parking = &parking;
      const ClassId traffic_class{static_cast<std::uint8_t>(below(3))};
      const TimePoint now = Clock::now();
      const dispatch::Offer offer = gate_.enter(
          ticket,
          {.traffic_class = traffic_class,
           .deadline = below(8) == 0 ? now + std::chrono::microseconds(below(200)) : kNever,
           .max_wait = Milliseconds(1 + below(4)),
           .short_wait = below(8) == 0 ? std::optional<Duration>(Milliseconds(20)) : std::nullopt},
          now);
      if (offer.kind == dispatch::Offer::Kind::refused) {
        ++tally_.refused;
        co_await Yield(loop_);
        continue;
      }
      bool cancelled = false;
      if (offer.kind == dispatch::Offer::Kind::queued) {
        ++tally_.queued;
        if (below(4) == 0) {  // the client leaves soon, perhaps too late
          loop_.post([&parking, &ticket] {
            if (!ticket.delivered && parking.parked()) parking.wake(Wake::client_gone);
          });
        }
        while (!ticket.delivered && !cancelled) {
          const Wake wake = co_await parking.park({});
          if (wake != Wake::client_gone) continue;
          cancelled = gate_.cancel(ticket, Clock::now()) == Withdrawal::withdrawn;
        }
        if (cancelled) {
          ++tally_.cancelled;
        } else if (ticket.state == dispatch::Waiter::State::granted) {
          ++tally_.granted_later;
        } else {
          ++(ticket.state == dispatch::Waiter::State::evicted ? tally_.evicted : tally_.expired);
        }
        // The posted departure refers to the ticket.
        co_await Yield(loop_);
      } else {
        ++tally_.granted;
      }
      if (!cancelled && ticket.state == dispatch::Waiter::State::granted) {
        const Slot slot(gate_, traffic_class, Clock::now());
        tally_.enter_slot();
        for (std::size_t rounds = below(4); rounds > 0; --rounds) co_await Yield(loop_);
        tally_.leave_slot();
      }
      if (below(16) == 0) gate_.expire(Clock::now());
    }
    if (--tally_.unfinished == 0) all_done_();
  }

  Gate& gate_;
  Tally& tally_;
  Random random_;
  EventLoop loop_;
  Mailbox mailbox_{loop_};
  std::deque<Parking> parkings_;
  std::function<void()> all_done_;
  std::thread thread_;
};

// Lets kThreads loops use each gate at random until all their requests have ended.
void use_at_random(std::initializer_list<Gate*> gates, Tally& tally) {
  std::deque<Loop> loops;
  for (Gate* gate : gates) {
    for (std::size_t t = 0; t < kThreads; ++t) loops.emplace_back(*gate, tally, 1000 + t);
  }
  for (Loop& loop : loops) {
    loop.start([&loops] {
      for (Loop& each : loops) each.stop();
    });
  }
  // As every worker's sweep does, or the last ones might wait for it for good.
  while (tally.unfinished != 0) {
    for (Gate* gate : gates) gate->expire(Clock::now());
    std::this_thread::yield();
  }
  for (Loop& loop : loops) loop.join();
}

struct Totals {
  std::uint64_t started = 0, enqueued = 0, late = 0, evicted = 0, cancelled = 0, refused = 0;
};

Totals totals_of(Gate& gate) {
  observe::UpstreamSnapshot snapshot;
  gate.read_snapshot(snapshot, Clock::now());
  CHECK(snapshot.inflight == 0);
  Totals sum;
  for (const auto& each : snapshot.classes) {
    CHECK(each.queued == 0);
    CHECK(each.inflight == 0);
    sum.started += each.totals.started;
    sum.enqueued += each.totals.enqueued;
    sum.late += each.totals.queue_timeout + each.totals.deadline_miss;
    sum.evicted += each.totals.evicted;
    sum.cancelled += each.totals.cancelled;
    sum.refused += each.totals.queue_full + each.totals.wait_risk + each.totals.not_short +
                   each.totals.expired;
  }
  return sum;
}

}  // namespace

TEST_CASE("eight threads that come and go at random never hold more slots than the gate has") {
  constexpr int kConcurrency = 5;
  Gate gate(dispatch(kConcurrency), three_classes());
  Tally tally;
  int rounds = 0;
  // Until the load was one that tries everything, which a busy machine may keep from ticket_event.
  do {
    tally.unfinished = kThreads * kRequestsAtOnce;
    use_at_random({&gate}, tally);
  } while (++rounds < 10 && (tally.granted_later == 0 || tally.cancelled == 0 ||
                             tally.evicted == 0 || tally.refused == 0));

  CHECK(tally.most_running == kConcurrency);
  CHECK(tally.running == 0);
  // Each queued request had exactly one fate.
  CHECK(tally.queued == tally.granted_later + tally.cancelled + tally.expired + tally.evicted);
  CHECK(tally.granted + tally.queued + tally.refused ==
        rounds * kThreads * kRequestsAtOnce * kRequestsEach);
  // And the gate counted the same.
  const Totals totals = totals_of(gate);
  CHECK(totals.started == tally.granted + tally.granted_later);
  CHECK(totals.enqueued == tally.queued);
  CHECK(totals.late == tally.expired);
  CHECK(totals.evicted == tally.evicted);
  CHECK(totals.cancelled == tally.cancelled);
  CHECK(totals.refused == tally.refused);
  for (const auto* each :
       {&tally.granted_later, &tally.cancelled, &tally.evicted, &tally.refused}) {
    CHECK(*each > 0);
  }
}

TEST_CASE("the same threads hold more slots than that when the gate has more") {
  Gate gate(dispatch(1000), three_classes());
  Tally tally;
  use_at_random({&gate}, tally);
  CHECK(tally.most_running > 5);
  CHECK(tally.queued == 0);
  CHECK(totals_of(gate).started == tally.granted);
}

TEST_CASE("the gates of successive configurations share the slots of the newest") {
  Gate older(dispatch(2), three_classes());
  const TimePoint now = Clock::now();
  const auto running = [](Gate& gate) {
    observe::UpstreamSnapshot snapshot;
    gate.read_snapshot(snapshot, Clock::now());
    return snapshot.inflight;
  };
  EventLoop loop;
  Mailbox mailbox(loop);
  std::array<Ticket, 5> tickets;
  for (Ticket& ticket : tickets) ticket.mailbox = &mailbox;
  using Kind = dispatch::Offer::Kind;
  CHECK(older.enter(tickets[0], {}, now).kind == Kind::granted);
  CHECK(older.enter(tickets[1], {}, now).kind == Kind::granted);
  CHECK(older.enter(tickets[2], {}, now).kind == Kind::queued);
  Gate newer(dispatch(1), three_classes(), older.slots());
  CHECK(newer.enter(tickets[3], {}, now).kind == Kind::queued);
  CHECK(running(newer) == 2);
  const auto granted = [&](std::size_t ticket) {
    loop.poll();
    return tickets[ticket].state == dispatch::Waiter::State::granted;
  };
  older.leave(ClassId{0}, Duration{1}, now);  // one too many ran: no turn yet
  CHECK_FALSE(granted(2));
  CHECK_FALSE(granted(3));
  older.leave(ClassId{0}, Duration{1}, now);
  CHECK(granted(2));  // the longest waiting goes first
  CHECK_FALSE(granted(3));
  older.leave(ClassId{0}, Duration{1}, now);
  CHECK(granted(3));
  CHECK(older.enter(tickets[4], {}, now).kind == Kind::queued);
  newer.leave(ClassId{0}, Duration{1}, now);
  CHECK(granted(4));
  older.leave(ClassId{0}, Duration{1}, now);
  CHECK(running(newer) == 0);
}

TEST_CASE("threads at two gates with the same slots never hold more than there are") {
  constexpr int kConcurrency = 5;
  Tally tally;
  tally.unfinished = 2 * kThreads * kRequestsAtOnce;
  Gate older(dispatch(kConcurrency), three_classes());
  Gate newer(dispatch(kConcurrency), three_classes(), older.slots());
  use_at_random({&older, &newer}, tally);
  CHECK(tally.most_running == kConcurrency);
  CHECK(tally.running == 0);
  CHECK(totals_of(older).started + totals_of(newer).started == tally.granted + tally.granted_later);
}

TEST_CASE("a slot is given back once however it is passed on") {
  Gate gate(dispatch(1), three_classes());
  observe::UpstreamSnapshot snapshot;
  const auto running = [&] {
    gate.read_snapshot(snapshot, Clock::now());
    return snapshot.inflight;
  };
  Ticket ticket;
  CHECK(gate.enter(ticket, {}, Clock::now()).kind == dispatch::Offer::Kind::granted);
  Slot first(gate, ClassId{0}, Clock::now());
  {
    Slot second(std::move(first));
    CHECK(!first);
    CHECK(second);
    CHECK(running() == 1);
    first = std::move(second);
  }
  CHECK(running() == 1);
  first.release(Clock::now());
  CHECK(running() == 0);
  first.release(Clock::now());
  CHECK(running() == 0);
}

TEST_CASE(
    "how scarce slots are: those that wait for clients, and who waits for them, at all gates") {
  Gate older(dispatch(4), three_classes());
  Gate newer(dispatch(3), three_classes(), older.slots());
  const TimePoint now = Clock::now();
  std::array<Ticket, 5> tickets;
  std::array<Slot, 3> slots;
  Gate* const gates[] = {&older, &newer, &newer};
  for (std::size_t n = 0; n < slots.size(); ++n) {
    REQUIRE(gates[n]->enter(tickets[n], {}, now).kind == dispatch::Offer::Kind::granted);
    slots[n] = Slot(*gates[n], ClassId{0}, now);
    slots[n].set_wait(n != 1 ? SlotWait::client : SlotWait::nothing);
    slots[n].set_wait(n != 1 ? SlotWait::client : SlotWait::nothing);
  }
  CHECK_FALSE(slots[0].contention());  // nobody wants it
  EventLoop loop;
  Mailbox mailbox(loop);
  for (std::size_t n = 3; n < tickets.size(); ++n) {
    tickets[n].mailbox = &mailbox;
    CHECK(gates[n - 3]->enter(tickets[n], {}, now).kind == dispatch::Offer::Kind::queued);
  }
  const auto load = slots[1].contention();
  REQUIRE(load);
  CHECK(load->slots == 3);
  CHECK(load->awaiting_client == 2);
  CHECK(load->waiting == 2);
  Slot moved = std::move(slots[0]);
  CHECK(moved.contention()->awaiting_client == 2);
  moved.set_wait(SlotWait::nothing);
  CHECK(moved.contention()->awaiting_client == 1);
  slots[2].release(now);  // to a waiter
  CHECK(moved.contention()->awaiting_client == 0);
  CHECK(moved.contention()->waiting == 1);
  CHECK(newer.cancel(tickets[4], now) == Withdrawal::withdrawn);
  CHECK_FALSE(Slot().contention());
  loop.poll();
  older.leave(ClassId{0}, Duration{1}, now);  // that waiter's
}

TEST_CASE("a gate grants no more slots than its effective limit") {
  Gate gate(dispatch(3), three_classes());
  std::array<Ticket, 3> tickets;
  const TimePoint now = Clock::now();
  using Kind = dispatch::Offer::Kind;
  CHECK(gate.enter(tickets[0], {}, now).kind == Kind::granted);
  gate.limit_to(1, now);
  observe::UpstreamSnapshot snapshot;
  gate.read_snapshot(snapshot, now);
  CHECK(snapshot.effective_limit == 1);
  CHECK(snapshot.concurrency_limit == 3);
  CHECK(gate.limit() == 1);

  CHECK(gate.enter(tickets[1], {}, now).kind == Kind::queued);
  CHECK(gate.cancel(tickets[1], now) == Withdrawal::withdrawn);
  gate.limit_to(2, now);
  CHECK(gate.enter(tickets[1], {}, now).kind == Kind::granted);
  gate.leave(ClassId{0}, std::chrono::milliseconds(1), now);
  gate.leave(ClassId{0}, std::chrono::milliseconds(1), now);
}

}  // namespace spillway::proxy
