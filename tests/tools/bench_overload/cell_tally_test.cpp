#include "bench/overload/cell_tally.hpp"

#include <doctest/doctest.h>

#include "tools/bench_overload/made_up.hpp"

using namespace spillway;
using namespace spillway::bench;
using namespace spillway::bench::test;

TEST_CASE("refusals are told apart by their reason and without one by how long they took") {
  const Duration soon = Milliseconds(1), late = Milliseconds(404);
  CHECK(refusal_of("QUEUE_FULL", soon) == Refusal::on_arrival);
  CHECK(refusal_of("QUEUE_WAIT_RISK", late) == Refusal::on_arrival);
  CHECK(refusal_of("EVICTED", soon) == Refusal::evicted);
  CHECK(refusal_of("QUEUE_TIMEOUT", soon) == Refusal::timed_out);
  CHECK(refusal_of("DEADLINE_EXPIRED", late) == Refusal::timed_out);
  CHECK(refusal_of(load::kNoReason, soon) == Refusal::on_arrival);
  CHECK(refusal_of(load::kNoReason, late) == Refusal::timed_out);
}

TEST_CASE("each request counts once and by how it ended") {
  CellTally tally(3, kFrom, kUntil);
  const load::Arrival p2{.at = std::chrono::seconds(1), .kind = 2, .phase = kMeasured};
  happen(tally, p2, ok(), Milliseconds(20), 4);
  happen(tally, p2, {.fate = load::Fate::ok, .degraded = "stale_ok"}, Milliseconds(20));
  happen(tally, p2, denied("QUEUE_FULL"), Milliseconds(1), 3);
  happen(tally, p2, denied("EVICTED"), Milliseconds(40), 2);
  happen(tally, p2, denied("QUEUE_TIMEOUT"), Milliseconds(100));
  happen(tally, p2, gave_up(), Milliseconds(1000), 5);
  happen(tally, p2, {.fate = load::Fate::failed, .cause = "status 502"}, Milliseconds(3));
  const Counts& counts = tally.kind(2);
  CHECK(counts.sent == 17);
  CHECK(counts.attempts == 17);
  CHECK(counts.succeeded == 5);
  CHECK(counts.degraded == 1);
  CHECK(counts.denied == 3);
  CHECK(counts.evicted == 2);
  CHECK(counts.timed_out == 1);
  CHECK(counts.gave_up == 5);
  CHECK(counts.failed == 1);
  CHECK(counts.latencies == std::vector<Duration>(5, Milliseconds(20)));
  CHECK(counts.denials == std::vector<Duration>(3, Milliseconds(1)));
  CHECK(counts.refusals.size() == 6);
  CHECK(tally.kind(0).sent == 0);
  CHECK(tally.causes().at("status 502") == 1);
  CHECK(tally.tenants().empty());
}

TEST_CASE("neither the first phase counts nor the last") {
  CellTally tally(3, kFrom, kUntil);
  happen(tally, {.phase = kWarmUp}, ok(), Milliseconds(20), 7);
  happen(tally, {.phase = kRunOut}, ok(), Milliseconds(20), 9);
  CHECK(tally.kind(0).sent == 0);
  CHECK(tally.kind(0).succeeded == 0);
  CHECK(tally.tenths().at(0).attempts == 16);
  happen(tally, {.at = kFrom, .phase = kMeasured}, ok(), Milliseconds(20));
  CHECK(tally.kind(0).succeeded == 1);
}

TEST_CASE("a request that succeeds when it is tried again took as long as from its first instant") {
  CellTally tally(3, kFrom, kUntil);
  const load::Arrival arrival{.at = Milliseconds(1500), .kind = 1, .phase = kMeasured};
  const load::Attempt first{arrival, 1, arrival.at};
  const load::Attempt second{arrival, 2, Milliseconds(2800)};
  tally.sent(first, Duration::zero());
  tally.ended(first, gave_up(), std::chrono::seconds(1), true);
  tally.sent(second, Duration::zero());
  tally.ended(second, ok(), Milliseconds(30), false);
  CHECK(tally.kind(1).sent == 1);
  CHECK(tally.kind(1).attempts == 2);
  CHECK(tally.kind(1).gave_up == 1);
  CHECK(tally.kind(1).succeeded == 1);
  CHECK(tally.kind(1).latencies == std::vector<Duration>{Milliseconds(1330)});
  CHECK(tally.tenths().at(15).attempts == 1);
  CHECK(tally.tenths().at(15).succeeded == 0);
  CHECK(tally.tenths().at(28).succeeded == 1);
}

TEST_CASE("answers count for goodput while it is measured and requests by when they were due") {
  CellTally tally(3, kFrom, kUntil);
  happen(tally, {.at = kFrom - Milliseconds(50), .phase = kWarmUp}, ok(), Milliseconds(60));
  happen(tally, {.at = kUntil - Milliseconds(50), .phase = kMeasured}, ok(), Milliseconds(60));
  happen(tally, {.at = kFrom - Milliseconds(50), .phase = kWarmUp}, ok(), Milliseconds(40));
  CHECK(tally.kind(0).answered == 1);
  CHECK(tally.kind(0).sent == 1);
  CHECK(tally.kind(0).succeeded == 1);
  happen(tally, {.at = kFrom, .phase = kMeasured}, gave_up(), Milliseconds(60));
  CHECK(tally.kind(0).answered == 1);
}

TEST_CASE("tenants are counted beside their class") {
  CellTally tally(3, kFrom, kUntil);
  happen(tally, {.at = kFrom, .kind = 1, .phase = kMeasured, .tenant = 3}, ok(), Milliseconds(20),
         2);
  happen(tally, {.at = kFrom, .kind = 1, .phase = kMeasured}, ok(), Milliseconds(20), 5);
  CHECK(tally.kind(1).sent == 7);
  REQUIRE(tally.tenants().size() == 1);
  CHECK(tally.tenants().at(3).succeeded == 2);
}

TEST_CASE("lateness is that of the load in all phases") {
  CellTally tally(3, kFrom, kUntil);
  const load::Arrival arrival{};
  for (int i = 0; i < 98; ++i) tally.sent({arrival, 1, {}}, Duration::zero());
  CHECK(tally.late_p99() == Duration::zero());
  for (int i = 0; i < 2; ++i) tally.sent({arrival, 1, {}}, Milliseconds(7));
  CHECK(tally.late_p99() == Milliseconds(7));
}
