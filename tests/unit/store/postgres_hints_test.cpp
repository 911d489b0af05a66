#include "store/postgres/postgres_hints.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/random.hpp"

namespace spillway::store {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kBegin{1h};
const jobs::Lane kLane{3, "orders", TenantId{1}};

jobs::WallTime at(std::chrono::milliseconds time) { return jobs::WallTime{time}; }

TEST_CASE("a lane is scanned whole at first, and then from the last job that was claimed") {
  PostgresHints hints;
  CHECK(hints.scan(kLane, kBegin).is_full);
  hints.claimed(kLane, at(50s));
  const PostgresHints::Scan next = hints.scan(kLane, kBegin + 1s);
  CHECK_FALSE(next.is_full);
  CHECK(next.from == at(50s) - PostgresHints::kSlack);
  CHECK_MESSAGE(hints.scan({3, "orders", TenantId{2}}, kBegin).is_full, "another lane");
}

TEST_CASE("a lane in which nothing was found is scanned whole again") {
  PostgresHints hints;
  hints.scan(kLane, kBegin);
  CHECK(hints.scan(kLane, kBegin + 1s).is_full);
}

TEST_CASE("every two seconds a lane is scanned whole, less often if that takes long") {
  PostgresHints hints;
  hints.scan(kLane, kBegin);
  hints.claimed(kLane, at(50s));
  CHECK_FALSE(hints.scan(kLane, kBegin + 1999ms).is_full);
  CHECK(hints.scan(kLane, kBegin + 2s).is_full);
  hints.claimed(kLane, at(60s));
  hints.full_scan_took(500ms);
  CHECK_FALSE(hints.scan(kLane, kBegin + 11s).is_full);
  CHECK(hints.scan(kLane, kBegin + 12s).is_full);
}

TEST_CASE("jobs that were recovered are looked for now and then, and while there are some") {
  PostgresHints hints;
  CHECK(hints.scan(kLane, kBegin).tells);
  const auto claim = [&](bool has_recovered) {
    hints.met_recovered(kLane, has_recovered);
    hints.claimed(kLane, at(50s));
  };
  claim(false);
  CHECK_FALSE(hints.scan(kLane, kBegin + 1s).tells);
  hints.recovered();
  CHECK(hints.scan(kLane, kBegin + 1s).tells);
  claim(true);
  for (int n = 0; n < 3; ++n) CHECK(hints.scan(kLane, kBegin + 1s).tells);
  claim(false);
  CHECK_FALSE(hints.scan(kLane, kBegin + 1s).tells);
  CHECK(hints.scan(kLane, kBegin + 2s).tells);
}

TEST_CASE("a job that appears below the watermark lowers it, and one above does not") {
  PostgresHints hints;
  hints.scan(kLane, kBegin);
  hints.claimed(kLane, at(50s));
  hints.appeared(at(70s));
  CHECK(hints.scan(kLane, kBegin).from == at(50s) - PostgresHints::kSlack);
  hints.appeared(at(20s));
  CHECK(hints.scan(kLane, kBegin).from == at(20s) - PostgresHints::kSlack);
}

TEST_CASE("what appears lowers the watermark of every lane, once") {
  PostgresHints hints;
  const jobs::Lane other{3, "orders", TenantId{2}};
  for (const jobs::Lane& lane : {kLane, other}) {
    hints.scan(lane, kBegin);
    hints.claimed(lane, at(50s));
  }
  hints.appeared(at(20s));
  hints.appeared(at(40s));
  for (const jobs::Lane& lane : {kLane, other})
    CHECK(hints.scan(lane, kBegin).from == at(20s) - PostgresHints::kSlack);
  hints.claimed(kLane, at(50s));
  CHECK(hints.scan(kLane, kBegin).from == at(50s) - PostgresHints::kSlack);
  CHECK(hints.scan(other, kBegin).from == at(20s) - PostgresHints::kSlack);
}

TEST_CASE("a job that appears between a scan and its result is scanned for") {
  PostgresHints hints;
  hints.scan(kLane, kBegin);
  hints.appeared(at(20s));
  hints.claimed(kLane, at(50s));
  CHECK(hints.scan(kLane, kBegin).from == at(20s) - PostgresHints::kSlack);
}

TEST_CASE("a watermark is never above what has appeared, in whichever order and however much") {
  PostgresHints hints;
  Random random(1);
  std::vector<jobs::WallTime> lowest(3, jobs::WallTime::max());
  const auto lane = [](std::size_t n) { return jobs::Lane{3, "orders", TenantId{n}}; };
  const jobs::WallTime high = at(1'000'000'000ms);
  for (std::size_t n = 0; n < lowest.size(); ++n) {
    hints.scan(lane(n), kBegin);
    hints.claimed(lane(n), high);
  }
  int exact = 0, scans = 0;
  for (int i = 0; i < 200'000; ++i) {
    const auto due = at(std::chrono::milliseconds(i + static_cast<int>(random.uniform() * 3)));
    hints.appeared(due);
    for (jobs::WallTime& low : lowest) low = std::min(low, due);
    if (random.uniform() > 0.01) continue;
    const std::size_t n = static_cast<std::size_t>(random.uniform() * 2.5);  // the last one seldom
    const jobs::WallTime from = hints.scan(lane(n), kBegin).from;
    ++scans;
    exact += from == lowest[n] - PostgresHints::kSlack;
    REQUIRE(from <= lowest[n] - PostgresHints::kSlack);
    hints.claimed(lane(n), high);
    lowest[n] = jobs::WallTime::max();
  }
  CHECK(scans > 1000);
  CHECK_MESSAGE(exact > scans / 2, "negative control: it is not as low as can be");
}

TEST_CASE("a route is counted at first, then every second, and at once when it seems full") {
  PostgresHints hints;
  CHECK(hints.needs_count("orders", 1, 100, kBegin));
  hints.counted("orders", 98, kBegin, 1ms);
  CHECK_FALSE(hints.needs_count("orders", 2, 100, kBegin + 999ms));
  CHECK(hints.needs_count("orders", 2, 100, kBegin + 1s));
  CHECK_FALSE(hints.needs_count("orders", 3, 100, kBegin + 19ms));
  CHECK(hints.needs_count("orders", 3, 100, kBegin + 20ms));
}

TEST_CASE("what this proxy changes is part of the count, and never below zero") {
  PostgresHints hints;
  hints.counted("orders", 5, kBegin, 1ms);
  hints.changed("orders", 3);
  CHECK(hints.waiting("orders") == 8);
  hints.changed("orders", -20);
  CHECK(hints.waiting("orders") == 0);
}

TEST_CASE("a route's tenants are counted every second, and no tenant is kept that has nothing") {
  PostgresHints hints;
  CHECK(hints.needs_tenants("orders", kBegin));
  hints.counted("orders", {{TenantId{1}, 5}}, kBegin, 1ms);
  CHECK_FALSE(hints.needs_tenants("orders", kBegin + 999ms));
  CHECK(hints.needs_tenants("orders", kBegin + 1s));
  const jobs::Lane one{0, "orders", TenantId{1}}, other{0, "orders", TenantId{2}};
  hints.changed(one, -2);
  hints.changed(other, -1);  // of those that were not counted
  hints.changed(other, 1);
  CHECK(hints.waiting_of(one) == 3);
  CHECK(hints.waiting_of(other) == 1);
  hints.forget();
  CHECK(hints.needs_tenants("orders", kBegin));
  CHECK(hints.waiting_of(one) == 0);
}

TEST_CASE("after a failure nothing is remembered") {
  PostgresHints hints;
  hints.scan(kLane, kBegin);
  hints.claimed(kLane, at(50s));
  hints.counted("orders", 5, kBegin, 1ms);
  hints.forget();
  CHECK(hints.scan(kLane, kBegin).is_full);
  CHECK(hints.needs_count("orders", 1, 100, kBegin));
}

}  // namespace
}  // namespace spillway::store
