#include "bench/overload/work_tally.hpp"

#include <doctest/doctest.h>

using namespace spillway;
using namespace spillway::bench;

namespace {

constexpr TimePoint kFrom{std::chrono::seconds(100)};
constexpr TimePoint kUntil{std::chrono::seconds(110)};
constexpr TimePoint kMeanwhile{std::chrono::seconds(105)};

load::Work work(std::uint32_t arrival, Duration service, Duration held, bool gone = false) {
  return {
      .number = load::RequestNumber{arrival, 1}, .service = service, .held = held, .gone = gone};
}

}  // namespace

TEST_CASE("work is wasted when the client or the connection has gone") {
  load::Awaited awaited(4);
  for (std::uint32_t i = 0; i < 4; ++i) awaited.begin({i, 1});
  awaited.end({1, 1}, false);
  awaited.end({3, 1}, true);
  WorkTally tally(kFrom, kUntil, awaited);
  CHECK(tally.wasted_ratio() == 0);
  tally.add(work(0, Milliseconds(10), Milliseconds(10)), kMeanwhile);
  CHECK(tally.wasted_ratio() == 0);
  tally.add(work(1, Milliseconds(30), Milliseconds(30)), kMeanwhile);
  CHECK(tally.wasted_ratio() == doctest::Approx(0.75));
  tally.add(work(2, Milliseconds(40), Milliseconds(40), true), kMeanwhile);
  CHECK(tally.wasted_ratio() == doctest::Approx(70.0 / 80));
  // Answered: a page renewed, no waste.
  tally.add(work(3, Milliseconds(80), Milliseconds(80)), kMeanwhile);
  CHECK(tally.wasted_ratio() == doctest::Approx(70.0 / 160));
}

TEST_CASE("work of another time and for unknown clients does not count") {
  const load::Awaited awaited(1);
  WorkTally tally(kFrom, kUntil, awaited);
  tally.add(work(0, Milliseconds(10), Milliseconds(10)), kFrom - Milliseconds(1));
  tally.add(work(0, Milliseconds(10), Milliseconds(10)), kUntil);
  tally.add({.service = Milliseconds(10), .held = Milliseconds(10)}, kMeanwhile);
  CHECK(tally.mean_service() == Duration::zero());
  CHECK(tally.wasted_ratio() == 0);
  tally.add(work(0, Milliseconds(10), Milliseconds(10)), kFrom);
  CHECK(tally.wasted_ratio() == 1);  // nobody began to wait
}

TEST_CASE("a slow machine shows as slots held longer than they were to be") {
  const load::Awaited awaited(2);
  WorkTally tally(kFrom, kUntil, awaited);
  CHECK(tally.stretch() == 1);
  tally.add(work(0, Milliseconds(20), Milliseconds(20)), kMeanwhile);
  tally.add(work(1, Milliseconds(20), Milliseconds(24)), kMeanwhile);
  CHECK(tally.stretch() == doctest::Approx(1.1));
  CHECK(tally.late_p99() == Milliseconds(4));
  CHECK(tally.mean_service() == Milliseconds(20));
}
