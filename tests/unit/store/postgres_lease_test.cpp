// When a proxy is held to have ended. The database's clock may be set forward.
#include <doctest/doctest.h>

#include <vector>

#include "store/postgres/postgres_lease_watch.hpp"
#include "unit/store/postgres_fleet.hpp"

namespace spillway::store {
namespace {

using One = PostgresLeaseWatch::One;
using Ones = std::vector<One>;

constexpr TimePoint kFirstSeen{1h};

One lease(Epoch epoch, std::int64_t end) {
  return {epoch, jobs::WallTime(std::chrono::milliseconds(end))};
}

// Two proxies of a fleet, of which the second one sweeps. Its own clock is the test's as well.
struct Swept : Fleet {
  static constexpr std::chrono::milliseconds kLease{9s};
  static constexpr Duration kSilence = 6s;

  // The database's clock goes on as the proxy's does.
  void pass(std::chrono::milliseconds time) {
    first.pass(time);
    at += time;
  }
  Sweep sweep() { return ask_second(Sweep{.limit = 100, .silence = kSilence, .at = at}); }
  bool renew(Epoch epoch) { return !first.ask(Renew{epoch, kLease}).is_lost; }
  bool renew_second(Epoch epoch) { return !ask_second(Renew{epoch, kLease}).is_lost; }

  TimePoint at = kFirstSeen;
};

}  // namespace

TEST_CASE("a lease is silent from when it was first seen with its end, till it has another") {
  PostgresLeaseWatch watch;
  CHECK(watch.silent_for(0s, kFirstSeen).empty());
  watch.see({lease(1, 100), lease(2, 100)}, kFirstSeen);
  CHECK(watch.silent_for(0s, kFirstSeen) == Ones{lease(1, 100), lease(2, 100)});
  CHECK(watch.silent_for(2s, kFirstSeen + 1s).empty());
  watch.see({lease(1, 100), lease(2, 101), lease(3, 100)}, kFirstSeen + 1s);
  CHECK(watch.silent_for(2s, kFirstSeen + 2s) == Ones{lease(1, 100)});
  watch.see({lease(2, 101), lease(3, 100)}, kFirstSeen + 2s);
  const Ones others{lease(2, 101), lease(3, 100)};
  CHECK_MESSAGE(watch.silent_for(2s, kFirstSeen + 3s) == others, "the first is gone");
  watch.see({lease(2, 100)}, kFirstSeen + 4s);
  CHECK_MESSAGE(watch.silent_for(1s, kFirstSeen + 4s).empty(), "a clock that was set back is news");
}

TEST_CASE("when the database's clock is set forward proxies that renew keep what they have") {
  Swept fleet;
  UnderTest& first = fleet.first;
  const Epoch one = first.join(Swept::kLease);
  const Epoch two = fleet.ask_second(Join{"two", Swept::kLease}).epoch;
  for (const std::uint64_t n : {1, 2}) first.enqueue(first.job(n));
  REQUIRE(first.claim(one, 1) == std::vector{job_id(1)});
  REQUIRE(fleet.ask_second(Claim{two, first.job(2).lane, 1}).jobs.size() == 1);
  for (int thirds = 0; thirds < 10; ++thirds) {
    CAPTURE(thirds);
    fleet.sweep();
    fleet.pass(Swept::kLease / 3 - 1ms);
    if (thirds == 5) first.pass(30min);  // of the database alone
    const Sweep sweep = fleet.sweep();
    CHECK(sweep.recovered.empty());
    CHECK(sweep.poisoned.empty());
    fleet.pass(1ms);
    CHECK(fleet.renew(one));
    CHECK(fleet.renew_second(two));
  }
  CHECK(first.succeed(one, 1));
  CHECK(first.find(2)->progress.state == jobs::JobState::leased);
  CHECK(first.find(2)->progress.recoveries == 0);
}

TEST_CASE("a proxy that renews no more has ended when its lease is over, and no later") {
  Swept fleet;
  UnderTest& first = fleet.first;
  const Epoch late = first.join(Swept::kLease);
  const Epoch other = fleet.ask_second(Join{"other", 10min}).epoch;
  first.enqueue(first.job(1));
  REQUIRE(first.claim(late).size() == 1);
  fleet.sweep();
  for (std::chrono::milliseconds waited{0}; waited < Swept::kLease - 500ms; waited += 500ms) {
    fleet.pass(500ms);
    REQUIRE(fleet.sweep().recovered.empty());
  }
  fleet.pass(500ms);
  CHECK(fleet.sweep().recovered == std::vector{job_id(1)});
  // What it does from then on is in vain, also before another has its job.
  CHECK_FALSE(fleet.renew(late));
  CHECK_FALSE(first.succeed(late, 1));
  CHECK(first.claim(late).empty());
  REQUIRE(fleet.ask_second(Claim{other, first.job(1).lane, 10}).jobs.size() == 1);
  CHECK_FALSE(first.succeed(late, 1));
  CHECK(first.find(1)->progress.recoveries == 1);
}

TEST_CASE("one that was over before it was seen first has some time to renew, and no more") {
  Swept fleet;
  UnderTest& first = fleet.first;
  const Epoch one = first.join(Swept::kLease), two = first.join(Swept::kLease);
  for (const std::uint64_t n : {1, 2}) first.enqueue(first.job(n));
  REQUIRE(first.claim(one, 1).size() == 1);
  REQUIRE(first.claim(two, 1).size() == 1);
  fleet.pass(1min);
  CHECK(fleet.sweep().recovered.empty());
  fleet.pass(3s);
  CHECK_MESSAGE(fleet.renew(two), "late, and not too late");
  CHECK(fleet.sweep().recovered.empty());
  fleet.pass(4s);
  CHECK(fleet.sweep().recovered == std::vector{job_id(1)});
  CHECK_FALSE(fleet.renew(one));
  CHECK(fleet.renew(two));
  CHECK_FALSE(first.succeed(one, 1));
  CHECK(first.succeed(two, 2));
}

TEST_CASE("a proxy whose lease is over claims nothing until it has renewed it") {
  Swept fleet;
  UnderTest& first = fleet.first;
  const Epoch one = first.join(Swept::kLease);
  first.enqueue(first.job(1));
  fleet.pass(Swept::kLease);
  CHECK(first.claim(one).empty());
  CHECK(fleet.renew(one));
  CHECK(first.claim(one) == std::vector{job_id(1)});
}

}  // namespace spillway::store
