// Ghosts at the scheduler: they hold what their requests would have held.
#include "dispatch/scheduler/shadow_gate.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <vector>

namespace spillway::dispatch {
namespace {

using namespace std::chrono_literals;
using Kind = Offer::Kind;

constexpr TimePoint kStart = TimePoint{} + 1h;
constexpr RouteId kRoute{0};

// One slot, one class with two places.
struct Shadow {
  Shadow() : classes(1) {
    classes[0].name = "P0";
    classes[0].max_queue = 2;
    settings.concurrency = 1;
  }

  ShadowGate::Entry enter(TimePoint at, Duration max_wait = 1h) {
    return gate.enter(kRoute, {.max_wait = max_wait}, at);
  }
  // Service times of 100 ms, one after the other.
  void teach() {
    for (int i = 0; i < 600; ++i) {
      const TimePoint at = kStart - 120s + i * 150ms;
      gate.ended(*enter(at).ghost, at + 100ms);
    }
  }

  config::Dispatch settings;
  std::vector<config::TrafficClass> classes;
  Scheduler scheduler{settings, init()};
  ShadowGate gate{scheduler, 1};

 private:
  std::span<const config::TrafficClass> init() {
    settings.concurrency = 1;
    classes.resize(1);
    classes[0].name = "P0";
    classes[0].max_queue = 2;
    return classes;
  }
};

}  // namespace

TEST_CASE("a ghost alone holds its slot for as long as its request takes") {
  Shadow shadow;
  const auto [offer, ghost] = shadow.enter(kStart);
  CHECK(offer.kind == Kind::granted);
  shadow.gate.advance(kStart + 10s);
  CHECK(shadow.scheduler.running() == 1);
  CHECK_FALSE(shadow.gate.ended(*ghost, kStart + 11s).has_value());
  CHECK(shadow.scheduler.running() == 0);
}

TEST_CASE("a ghost keeps its queue place when its request has ended") {
  Shadow shadow;
  shadow.teach();
  const auto first = shadow.enter(kStart);
  const auto second = shadow.enter(kStart);
  const auto third = shadow.enter(kStart);
  CHECK(second.offer.kind == Kind::queued);
  CHECK(shadow.enter(kStart).offer.reason == Reason::queue_full);
  // The upstream has room beyond the slot: all are answered at once.
  shadow.gate.ended(*second.ghost, kStart + 20ms);
  shadow.gate.ended(*third.ghost, kStart + 20ms);
  CHECK(shadow.scheduler.queued() == 2);
  CHECK(shadow.enter(kStart + 30ms).offer.reason == Reason::queue_full);
  shadow.gate.ended(*first.ghost, kStart + 40ms);
  CHECK(shadow.scheduler.queued() == 1);
  // The second one's slot, for the learned 100 ms from 40 ms on; then the third one's.
  shadow.gate.advance(kStart + 139ms);
  CHECK(shadow.scheduler.queued() == 1);
  shadow.gate.advance(kStart + 141ms);
  CHECK(shadow.scheduler.queued() == 0);
  CHECK(shadow.scheduler.running() == 1);
  shadow.gate.advance(kStart + 241ms);
  CHECK(shadow.scheduler.running() == 0);
}

TEST_CASE("a client that leaves takes its ghost with it") {
  Shadow shadow;
  const auto first = shadow.enter(kStart);
  const auto second = shadow.enter(kStart);
  shadow.gate.left(*second.ghost, kStart + 10ms);
  CHECK(shadow.scheduler.queued() == 0);
  shadow.gate.left(*first.ghost, kStart + 20ms);
  CHECK(shadow.scheduler.running() == 0);
}

TEST_CASE("a ghost that waits in vain is told once, by its request or by an event") {
  Shadow shadow;
  const auto first = shadow.enter(kStart);
  const auto under_way = shadow.enter(kStart, 50ms);
  const auto ended = shadow.enter(kStart, 50ms);
  shadow.gate.ended(*ended.ghost, kStart + 10ms);
  shadow.gate.advance(kStart + 100ms);
  int told = 0;
  while (const auto event = shadow.gate.next_event()) {
    CHECK(event->reason == Reason::queue_timeout);
    if (!event->has_request) ++told;
  }
  CHECK(told == 1);
  CHECK(shadow.gate.ended(*under_way.ghost, kStart + 200ms) == Reason::queue_timeout);
  shadow.gate.ended(*first.ghost, kStart + 200ms);
  CHECK(shadow.scheduler.running() == 0);
}

TEST_CASE("requests that did not come to the gate crowd the upstream all the same") {
  Shadow shadow;
  shadow.teach();
  ShadowGate::Ghost& past = shadow.gate.pass(kRoute, kStart);
  const auto one = shadow.enter(kStart);
  CHECK(one.offer.kind == Kind::granted);
  // Two at the upstream: slower than it would be, so the learned time counts.
  shadow.gate.advance(kStart + 101ms);
  CHECK(shadow.scheduler.running() == 0);
  shadow.gate.ended(*one.ghost, kStart + 200ms);
  shadow.gate.ended(past, kStart + 200ms);
}

TEST_CASE("if ghosts left with their requests, few would ever be refused") {
  const auto refused = [](bool keeps_place) {
    Shadow shadow;
    shadow.teach();
    int count = 0;
    // One every 60 ms, of 100 ms each, and the upstream works on them at the same time.
    std::vector<ShadowGate::Ghost*> under_way;
    for (int i = 0; i < 1000; ++i) {
      const TimePoint now = kStart + i * 60ms;
      if (under_way.size() == 2) {
        const TimePoint end = under_way.front()->sent + 100ms;
        keeps_place ? shadow.gate.ended(*under_way.front(), end)
                    : shadow.gate.left(*under_way.front(), end);
        under_way.erase(under_way.begin());
      }
      const auto [offer, ghost] = shadow.enter(now);
      if (offer.kind == Kind::refused) ++count;
      under_way.push_back(ghost);
    }
    return count;
  };
  CHECK(refused(true) > 380);  // the slot can do six of ten
  CHECK(refused(true) < 420);
  CHECK(refused(false) == 0);
}

TEST_CASE("ghosts are used again") {
  Shadow shadow;
  const auto first = shadow.enter(kStart);
  shadow.gate.ended(*first.ghost, kStart + 10ms);
  const auto second = shadow.enter(kStart + 20ms);
  CHECK(first.ghost == second.ghost);
  shadow.gate.ended(*second.ghost, kStart + 30ms);
}

}  // namespace spillway::dispatch
