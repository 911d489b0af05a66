// When a slot that is held for a slow client is wanted, at one gate and over a reload.
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

std::vector<config::TrafficClass> three_classes() {
  std::vector<config::TrafficClass> classes(3);
  for (std::size_t c = 0; c < classes.size(); ++c) classes[c].name = "P" + std::to_string(c);
  return classes;
}

config::Dispatch dispatch(std::uint32_t concurrency) {
  config::Dispatch settings;
  settings.concurrency = concurrency;
  return settings;
}

}  // namespace

TEST_CASE(
    "below a lowered limit slots of slow clients are wanted until those who wait are served") {
  constexpr std::size_t kHeld = 10;
  constexpr std::uint32_t kLowered = 3;
  constexpr std::size_t kWaiting = 2;
  for (const bool by_reload : {false, true}) {
    CAPTURE(by_reload);
    Gate older(dispatch(kHeld), three_classes());
    std::optional<Gate> newer;
    const TimePoint now = Clock::now();
    std::array<Ticket, kHeld + kWaiting> tickets;
    std::array<Slot, kHeld> slots;
    for (std::size_t n = 0; n < kHeld; ++n) {
      REQUIRE(older.enter(tickets[n], {.traffic_class = ClassId{2}}, now).kind ==
              dispatch::Offer::Kind::granted);
      slots[n] = Slot(older, ClassId{2}, now);
    }
    if (by_reload) newer.emplace(dispatch(kLowered), three_classes(), older.slots());
    if (!by_reload) older.limit_to(kLowered, now);
    Gate& gate = by_reload ? *newer : older;
    EventLoop loop;
    Mailbox mailbox(loop);
    for (std::size_t n = kHeld; n < tickets.size(); ++n) {
      tickets[n].mailbox = &mailbox;
      CHECK(gate.enter(tickets[n], {}, now).kind == dispatch::Offer::Kind::queued);
    }
    // Those of requests that are at the upstream are not to be had: taking fewer serves nobody.
    for (std::size_t n = 0; n < kHeld - kLowered; ++n) slots[n].set_wait(SlotWait::client);
    CHECK_FALSE(slots[0].contention());
    for (Slot& each : slots) each.set_wait(SlotWait::client);
    std::size_t taken = 0;
    for (Slot& each : slots) {
      const auto load = each.contention();
      if (!load) continue;
      CHECK(load->slots == kLowered);
      CHECK_FALSE(load->only_lower_wait);
      each.release(now);
      ++taken;
    }
    CHECK(taken == kHeld - kLowered + kWaiting);
    loop.poll();
    for (std::size_t n = kHeld; n < tickets.size(); ++n) {
      CHECK(tickets[n].state == dispatch::Waiter::State::granted);
      gate.leave(ClassId{0}, Duration{1}, now);
    }
  }
}

// 16 slots of clients of class 2 that take their time, and as many of other requests, of class 0.
struct FullUpstream {
  static constexpr std::size_t kSlow = 16;
  static constexpr std::size_t kOthers = 6;
  Gate gate{dispatch(64), three_classes()};
  TimePoint now = Clock::now();
  std::array<Ticket, kSlow + kOthers> tickets;
  std::vector<Slot> slow;
  std::vector<Slot> others;

  FullUpstream() {
    for (std::size_t n = 0; n < tickets.size(); ++n) {
      const ClassId its{n < kSlow ? 2u : 0u};
      REQUIRE(gate.enter(tickets[n], {.traffic_class = its}, now).kind ==
              dispatch::Offer::Kind::granted);
      (n < kSlow ? slow : others).emplace_back(gate, its, now);
    }
  }
  // Of class 2 the first eight wait for their clients, and the upstream owes the others a head.
  void half_is_late(Duration waited) {
    for (std::size_t n = 8; n < kSlow; ++n) slow[n].set_wait(SlotWait::late, waited);
    for (std::size_t n = 0; n < 8; ++n) slow[n].set_wait(SlotWait::client);
  }
};

// For a slot of class 2, whether its client pauses or not.
bool is_asked_for(const Gate& gate, TimePoint now) {
  const auto load = gate.contention(ClassId{2}, now);
  return load && !load->only_for_pauses;
}

TEST_CASE("below the limit slots of slow clients are wanted while others are late upstream") {
  FullUpstream upstream;
  for (Slot& each : upstream.slow) each.set_wait(SlotWait::client);
  CHECK_FALSE(upstream.slow[0].contention());  // it is full, but nothing is late yet
  for (Slot& each : upstream.others) each.set_wait(SlotWait::late);
  const auto load = upstream.slow[0].contention();
  REQUIRE(load);
  CHECK(load->slots == FullUpstream::kSlow);  // as many as it is at work for
  CHECK(load->awaiting_client == FullUpstream::kSlow);
  CHECK(load->waiting == FullUpstream::kOthers);
  CHECK_FALSE(load->only_lower_wait);
  CHECK(resilience::scarcity(*load) == 1.0);

  // Each late one asks for one slot, until it is answered.
  for (std::size_t n = 0; n < FullUpstream::kOthers; ++n) {
    REQUIRE(upstream.slow[n].contention());
    upstream.slow[n].release(upstream.now);
  }
  CHECK_FALSE(is_asked_for(upstream.gate, upstream.now));
  upstream.others[0].set_wait(SlotWait::nothing);
  CHECK_FALSE(is_asked_for(upstream.gate, upstream.now));
  upstream.others[0].set_wait(SlotWait::late);
  CHECK(upstream.slow.back().contention());
}

TEST_CASE("requests that were abandoned are no reason to take slots back, but make them scarce") {
  FullUpstream upstream;
  for (Slot& each : upstream.slow) each.set_wait(SlotWait::client);
  for (Slot& each : upstream.others) each.set_wait(SlotWait::abandoned);
  CHECK_FALSE(upstream.slow[0].contention());
  upstream.others[0].set_wait(SlotWait::late);
  const auto load = upstream.slow[0].contention();
  REQUIRE(load);
  CHECK(load->slots == FullUpstream::kSlow);
  CHECK(load->waiting == 1);
  // Below a lowered limit, too: those behind the slow ones come back with them.
  upstream.others[0].set_wait(SlotWait::abandoned);
  upstream.gate.limit_to(4, upstream.now);
  EventLoop loop;
  Mailbox mailbox(loop);
  Ticket waits;
  waits.mailbox = &mailbox;
  REQUIRE(upstream.gate.enter(waits, {}, upstream.now).kind == dispatch::Offer::Kind::queued);
  CHECK(upstream.slow[0].contention());
  CHECK(upstream.gate.cancel(waits, upstream.now) == Withdrawal::withdrawn);
}

TEST_CASE("at a standstill a waiter finds slots as scarce as what the upstream is at work for") {
  constexpr std::uint32_t kLimit = FullUpstream::kSlow + FullUpstream::kOthers;
  FullUpstream upstream;
  upstream.gate.limit_to(kLimit, upstream.now);
  EventLoop loop;
  Mailbox mailbox(loop);
  std::array<Ticket, 8> waiters;
  for (Ticket& waits : waiters) {
    waits.mailbox = &mailbox;
    const auto offer = upstream.gate.enter(waits, {.traffic_class = ClassId{1}}, upstream.now);
    REQUIRE(offer.kind == dispatch::Offer::Kind::queued);
  }
  for (std::size_t n = 0; n < 5; ++n) upstream.slow[n].set_wait(SlotWait::client);
  const auto before = upstream.slow[0].contention();
  REQUIRE(before);
  CHECK(before->slots == kLimit);
  CHECK(resilience::scarcity(*before) < 0.2);
  // Late are requests of its own class alone: none of them asks for its slot.
  for (std::size_t n = 5; n < FullUpstream::kSlow; ++n) upstream.slow[n].set_wait(SlotWait::late);
  const auto load = upstream.slow[0].contention();
  REQUIRE(load);
  CHECK(load->slots == kLimit - 11);
  CHECK(load->waiting == waiters.size());
  CHECK(resilience::scarcity(*load) == 1.0);
  // Where few are slow, the upstream stands still for another reason.
  for (std::size_t n = 1; n < FullUpstream::kSlow; ++n) upstream.slow[n].set_wait(SlotWait::late);
  const auto of_one = upstream.slow[0].contention();
  REQUIRE(of_one);
  CHECK(of_one->slots == kLimit);
  CHECK(resilience::scarcity(*of_one) == 0.0);
  for (Ticket& waits : waiters)
    CHECK(upstream.gate.cancel(waits, upstream.now) == Withdrawal::withdrawn);
}

TEST_CASE("an upstream that is late takes no slot where few clients are slow") {
  FullUpstream upstream;
  for (Slot& each : upstream.others) each.set_wait(SlotWait::late);
  for (std::size_t n = 8; n < FullUpstream::kSlow; ++n)
    upstream.slow[n].set_wait(SlotWait::abandoned);
  for (std::size_t n = 0; n < 2; ++n) upstream.slow[n].set_wait(SlotWait::client);
  CHECK_FALSE(upstream.slow[0].contention());  // a quarter of the eight it is at work for
  upstream.slow[2].set_wait(SlotWait::client);
  CHECK(upstream.slow[0].contention());
}

TEST_CASE("requests that are late ask for no slot while most others are not") {
  FullUpstream upstream;
  for (std::size_t n = 0; n < 10; ++n) upstream.slow[n].set_wait(SlotWait::client);
  for (Slot& each : upstream.others) each.set_wait(SlotWait::late);
  CHECK_FALSE(upstream.slow[0].contention());  // six of twelve
  upstream.slow[10].set_wait(SlotWait::abandoned);
  CHECK(upstream.slow[0].contention());
}

TEST_CASE("requests that are late ask for a slot of their own class while no head comes at all") {
  constexpr Duration kWaited = std::chrono::milliseconds(60);
  FullUpstream upstream;
  upstream.half_is_late(kWaited);
  const auto asked = [&](TimePoint now) { return is_asked_for(upstream.gate, now); };
  TimePoint now = Clock::now();
  CHECK_FALSE(asked(now));
  CHECK_FALSE(asked(now + resilience::kSilence / 2));
  CHECK(asked(now + resilience::kSilence));
  CHECK_FALSE(upstream.gate.contention(ClassId{0}, now + resilience::kSilence));  // a higher one

  now += resilience::kSilence;
  upstream.gate.slots()->on_response_head(now);  // a worker is free
  CHECK_FALSE(asked(now + resilience::kSilence / 2));
  now += resilience::kSilence;
  CHECK(asked(now));
  upstream.slow[0].release(now);  // one at a time, whether it helps or not
  CHECK_FALSE(asked(now));
  CHECK_FALSE(asked(now + resilience::kSilence / 2));
  CHECK(asked(now + resilience::kSilence));
  for (std::size_t n = 8; n < FullUpstream::kSlow; ++n)
    upstream.slow[n].set_wait(SlotWait::nothing);
  CHECK_FALSE(asked(now + resilience::kSilence));  // nothing is owed
}

TEST_CASE("few slow clients are not blamed for an upstream that sends nothing") {
  FullUpstream upstream;
  for (std::size_t n = 3; n < FullUpstream::kSlow; ++n) upstream.slow[n].set_wait(SlotWait::late);
  for (std::size_t n = 0; n < 3; ++n) upstream.slow[n].set_wait(SlotWait::client);
  const auto asked = [&] {
    return upstream.gate.contention(ClassId{2}, Clock::now() + resilience::kLongestSilence)
        .has_value();
  };
  CHECK_FALSE(asked());  // three of 64
  upstream.slow[3].set_wait(SlotWait::client);
  CHECK(asked());
  for (std::size_t n = 5; n < FullUpstream::kSlow; ++n)
    upstream.slow[n].set_wait(SlotWait::abandoned);
  CHECK_FALSE(asked());  // one that is late may be of a route that takes long
}

TEST_CASE("those that are late in its own class ask for slots of clients that pause") {
  FullUpstream upstream;
  upstream.half_is_late(std::chrono::milliseconds(200));
  const auto load = [&] { return upstream.gate.contention(ClassId{2}, upstream.now); };
  const auto late = static_cast<std::uint32_t>(FullUpstream::kSlow - 8);
  REQUIRE(load());
  CHECK(load()->only_for_pauses);
  CHECK(load()->waiting == late);
  CHECK(resilience::scarcity(*load()) == 0);  // no client that goes on loses its slot for them
  constexpr Duration kWait = std::chrono::milliseconds(500);
  CHECK(resilience::slot_terms(1000, kWait, *load()).max_pause == resilience::kLeastPause);
  CHECK_FALSE(upstream.gate.contention(ClassId{0}, upstream.now));  // of a higher class
  for (std::size_t n = 8; n < 8 + late; ++n) upstream.slow[n].set_wait(SlotWait::nothing);
  CHECK_FALSE(load());
}

TEST_CASE("what few clients keep waiting is not wanted by those that are late in its own class") {
  FullUpstream upstream;
  for (std::size_t n = 3; n < FullUpstream::kSlow; ++n) upstream.slow[n].set_wait(SlotWait::late);
  for (std::size_t n = 0; n < 3; ++n) upstream.slow[n].set_wait(SlotWait::client);
  CHECK_FALSE(upstream.gate.contention(ClassId{2}, upstream.now));
  upstream.slow[3].set_wait(SlotWait::client);
  CHECK(upstream.gate.contention(ClassId{2}, upstream.now));
}

TEST_CASE("while most responses take long no more slots count than the others have") {
  FullUpstream upstream;
  constexpr std::uint32_t kLimit = FullUpstream::kSlow + FullUpstream::kOthers;
  upstream.gate.limit_to(kLimit, upstream.now);
  EventLoop loop;
  Mailbox mailbox(loop);
  Ticket waits;
  waits.mailbox = &mailbox;
  constexpr Duration kWaited = std::chrono::milliseconds(70);
  REQUIRE(upstream.gate.enter(waits, {}, upstream.now).kind == dispatch::Offer::Kind::queued);
  for (std::size_t n = 0; n < 5; ++n) upstream.slow[n].set_wait(SlotWait::client);
  const auto before = upstream.gate.contention(ClassId{2}, upstream.now + kWaited);
  REQUIRE(before);
  CHECK(before->serves == resilience::SlotLoad::kAllSlots);
  CHECK(before->waited == kWaited);
  for (std::size_t n = 5; n < FullUpstream::kSlow; ++n)
    upstream.slow[n].set_wait(SlotWait::delayed);
  const auto load = upstream.gate.contention(ClassId{2}, upstream.now);
  REQUIRE(load);
  CHECK(load->slots == kLimit);  // for what a client has to move
  CHECK(load->serves == kLimit - 11);
  CHECK(upstream.gate.cancel(waits, upstream.now) == Withdrawal::withdrawn);
}

TEST_CASE("an upstream that is always slow is silent only for as long as its requests are late") {
  constexpr Duration kWaited = std::chrono::seconds(3);
  FullUpstream upstream;
  upstream.half_is_late(kWaited);
  const TimePoint now = Clock::now();
  CHECK_FALSE(is_asked_for(upstream.gate, now + kWaited / 2));
  CHECK(is_asked_for(upstream.gate, now + kWaited));

  FullUpstream slower;
  slower.half_is_late(std::chrono::seconds(100));
  CHECK(is_asked_for(slower.gate, Clock::now() + resilience::kLongestSilence));
}

TEST_CASE("requests that are late ask for no slot of their own class or of a higher one") {
  FullUpstream turned;  // the clients of the higher class are slow
  for (Slot& each : turned.slow) each.set_wait(SlotWait::late);
  for (Slot& each : turned.others) each.set_wait(SlotWait::client);
  CHECK_FALSE(turned.others[0].contention());
  for (std::size_t n = 8; n < FullUpstream::kSlow; ++n) turned.slow[n].set_wait(SlotWait::client);
  CHECK_FALSE(is_asked_for(turned.gate, turned.now));
}

TEST_CASE("lower classes want a slot of a higher one only where clients hold many") {
  Gate gate(dispatch(4), three_classes());
  const TimePoint now = Clock::now();
  std::array<Ticket, 5> tickets;
  std::array<Slot, 4> slots;
  for (std::size_t n = 0; n < slots.size(); ++n) {
    REQUIRE(gate.enter(tickets[n], {}, now).kind == dispatch::Offer::Kind::granted);
    slots[n] = Slot(gate, ClassId{0}, now);
  }
  EventLoop loop;
  Mailbox mailbox(loop);
  tickets[4].mailbox = &mailbox;
  CHECK(gate.enter(tickets[4], {.traffic_class = ClassId{1}}, now).kind ==
        dispatch::Offer::Kind::queued);
  slots[0].set_wait(SlotWait::client);
  CHECK(slots[0].is_contended());
  CHECK_FALSE(slots[0].contention());
  slots[1].set_wait(SlotWait::client);
  const auto load = slots[0].contention();
  REQUIRE(load);
  CHECK(load->only_lower_wait);
  CHECK(gate.cancel(tickets[4], now) == Withdrawal::withdrawn);
}

}  // namespace spillway::proxy
