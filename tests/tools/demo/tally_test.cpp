#include "tally.hpp"

#include <doctest/doctest.h>

#include "verdict.hpp"

using namespace spillway;
using namespace spillway::demo;
using namespace spillway::load;

namespace {

constexpr std::uint8_t kP0 = 0;
constexpr std::uint8_t kP2 = 2;
constexpr std::uint8_t kSpike = 1;

void happen(Tally& tally, std::uint8_t kind, std::uint8_t phase, Fate fate, int times) {
  for (int i = 0; i < times; ++i) {
    const Arrival arrival{Duration::zero(), kind, phase};
    tally.offered(arrival, Duration::zero());
    tally.ended(arrival, {fate, "", std::nullopt}, Milliseconds(20));
  }
}

}  // namespace

TEST_CASE("degraded answers are counted by phase and mode and among the recent ones") {
  Tally tally(2);
  const Arrival arrival{Duration::zero(), 1, kSpike};
  const auto answer = [&](std::string_view degraded) {
    tally.ended(arrival, ending_of(200, "", "", degraded), Milliseconds(2));
  };
  answer("");
  answer("mode=stale_ok; reason=TAIL_LATENCY");
  answer("mode=stale_ok; reason=QUEUE_SATURATION");
  answer("mode=skip_downstream; reason=TAIL_LATENCY");
  CHECK(tally.phase(kSpike)[1].ok == 4);
  CHECK(tally.phase(kSpike)[1].degraded == 3);
  CHECK(tally.phase(0)[1].degraded == 0);
  CHECK(tally.whole_run(1).degraded == 3);
  CHECK(tally.take_recent()[1].degraded == 3);
  CHECK(tally.take_recent()[1].degraded == 0);
  CHECK(tally.degraded_modes(1).at("stale_ok") == 2);
  CHECK(tally.degraded_modes(1).at("skip_downstream") == 1);
  CHECK(tally.degraded_modes(0).empty());
}

TEST_CASE("the tally keeps phases and classes apart") {
  Tally tally(3);
  happen(tally, kP0, 0, Fate::ok, 5);
  happen(tally, kP0, kSpike, Fate::ok, 3);
  happen(tally, kP0, kSpike, Fate::failed, 1);
  happen(tally, kP2, kSpike, Fate::denied, 7);
  CHECK(tally.phase(0)[kP0].ok == 5);
  CHECK(tally.phase(kSpike)[kP0].ok == 3);
  CHECK(tally.phase(kSpike)[kP0].ok_share() == doctest::Approx(0.75));
  CHECK(tally.phase(kSpike)[kP2].denied == 7);
  CHECK(tally.phase(2)[kP0].ok_share() == 1.0);
  CHECK(tally.whole_run(kP0).offered == 9);
  CHECK(tally.whole_run(kP0).ok == 8);
  CHECK(tally.whole_run(kP0).latencies.size() == 8);
}

TEST_CASE("recent counts hold only what happened since they were last taken") {
  Tally tally(1);
  happen(tally, kP0, 0, Fate::ok, 4);
  CHECK(tally.take_recent()[kP0].ok == 4);
  happen(tally, kP0, 0, Fate::failed, 2);
  const auto recent = tally.take_recent();
  CHECK(recent[kP0].ok == 0);
  CHECK(recent[kP0].failed == 2);
  CHECK(recent[kP0].offered == 2);
  CHECK(tally.phase(0)[kP0].offered == 6);
}

TEST_CASE("Retry-After is kept as the range seen per class") {
  Tally tally(1);
  const Arrival arrival{Duration::zero(), kP2, 0};
  tally.ended(arrival, {Fate::denied, "EVICTED", 8}, Duration::zero());
  tally.ended(arrival, {Fate::denied, "EVICTED", 5}, Duration::zero());
  tally.ended(arrival, {Fate::denied, "QUEUE_FULL", std::nullopt}, Duration::zero());
  CHECK(tally.retry_after(kP2).shortest == 5);
  CHECK(tally.retry_after(kP2).longest == 8);
  CHECK(tally.retry_after(kP2).seen == 2);
  CHECK(tally.retry_after(kP0).seen == 0);
  CHECK(tally.denial_reasons(kP2).at("EVICTED") == 2);
  CHECK(tally.denial_reasons(kP2).at("QUEUE_FULL") == 1);
}

TEST_CASE("the promise is kept when P0 has 99 per cent and some P2 was denied") {
  Tally tally(3);
  happen(tally, kP0, kSpike, Fate::ok, 99);
  happen(tally, kP0, kSpike, Fate::failed, 1);
  happen(tally, kP2, kSpike, Fate::denied, 1);
  CHECK(kept_its_promise(tally, kSpike));
}

TEST_CASE("the promise is broken without shedding or with too much P0 lost or with no spike") {
  Tally nothing_shed(3);
  happen(nothing_shed, kP0, kSpike, Fate::ok, 100);
  happen(nothing_shed, kP2, kSpike, Fate::ok, 100);
  CHECK_FALSE(kept_its_promise(nothing_shed, kSpike));

  Tally too_much_lost(3);
  happen(too_much_lost, kP0, 0, Fate::ok, 10000);
  happen(too_much_lost, kP0, kSpike, Fate::ok, 98);
  happen(too_much_lost, kP0, kSpike, Fate::denied, 2);
  happen(too_much_lost, kP2, kSpike, Fate::denied, 100);
  CHECK_FALSE(kept_its_promise(too_much_lost, kSpike));

  Tally lost_later(3);
  happen(lost_later, kP0, kSpike, Fate::ok, 100);
  happen(lost_later, kP0, 2, Fate::failed, 100);
  happen(lost_later, kP2, kSpike, Fate::denied, 100);
  CHECK_FALSE(kept_its_promise(lost_later, kSpike));

  CHECK_FALSE(kept_its_promise(Tally(3), kSpike));
}

TEST_CASE("the promise is broken while something that was deferred is still to be done") {
  Tally tally(3);
  happen(tally, kP0, kSpike, Fate::ok, 100);
  happen(tally, kP2, kSpike, Fate::deferred, 5);
  tally.set_backlog({.deferred = 5, .done = 4, .empty_after = std::nullopt});
  CHECK_FALSE(kept_its_promise(tally, kSpike));
  tally.set_backlog({.deferred = 5, .done = 5, .empty_after = Milliseconds(1500)});
  CHECK(kept_its_promise(tally, kSpike));
}

TEST_CASE("degraded answers keep P0 but do not count as shed P2") {
  Tally tally(3);
  const Arrival important{Duration::zero(), kP0, kSpike};
  const Arrival unimportant{Duration::zero(), kP2, kSpike};
  const auto degraded = ending_of(200, "", "", "mode=stale_ok; reason=TAIL_LATENCY");
  tally.ended(important, degraded, Milliseconds(2));
  tally.ended(unimportant, degraded, Milliseconds(2));
  CHECK_FALSE(kept_its_promise(tally, kSpike));
  happen(tally, kP2, kSpike, Fate::denied, 1);
  CHECK(kept_its_promise(tally, kSpike));
}
