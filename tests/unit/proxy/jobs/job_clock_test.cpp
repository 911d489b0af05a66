// By whose clock jobs are due.
#include "proxy/jobs/job_clock.hpp"

#include <doctest/doctest.h>

#include "unit/proxy/jobs/played_store.hpp"

namespace spillway::proxy {
namespace {

using std::chrono::seconds;

jobs::WallTime machine_time() {
  return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
}

// Both clocks go on while a test case runs, which may take a while on a busy machine.
bool is_near(jobs::WallTime one, jobs::WallTime other) {
  return one - other < seconds(60) && other - one < seconds(60);
}

}  // namespace

TEST_CASE("jobs go by the clock of a store that has one, whatever the machine's says") {
  for (const auto ahead : {std::chrono::hours(1), std::chrono::hours(-1)}) {
    JobClock clock;
    const TimePoint asked = Clock::now();
    clock.learn(machine_time() + ahead, asked, Clock::now());
    CHECK(is_near(clock.now(), machine_time() + ahead));
    CHECK_FALSE(is_near(clock.now(), machine_time()));
  }
}

TEST_CASE("jobs go by the machine's clock with a store that has none") {
  JobClock clock;
  CHECK(is_near(clock.now(), machine_time()));
  clock.learn(jobs::kNoTime, Clock::now(), Clock::now());
  CHECK(is_near(clock.now(), machine_time()));
}

TEST_CASE("what a store said while it was slow does not take the place of what is known") {
  JobClock clock;
  const TimePoint asked = Clock::now();
  const jobs::WallTime hour = machine_time() + std::chrono::hours(1);
  clock.learn(hour + seconds(600), asked - seconds(10), asked);
  CHECK(is_near(clock.now(), hour + seconds(600 + 5)));  // it is better than nothing
  clock.learn(hour, asked, asked);
  CHECK(is_near(clock.now(), hour));
  clock.learn(hour + seconds(600), asked - seconds(10), asked);
  CHECK(is_near(clock.now(), hour));
  clock.learn(hour + seconds(600), asked - milliseconds(10), asked);
  CHECK(is_near(clock.now(), hour + seconds(600)));
}

TEST_CASE("a step forward of the machine's clock counts once it has lasted, for all of jobs") {
  JobClock clock;
  const TimePoint now = Clock::now();
  const auto at = [&](auto after, std::chrono::hours ahead) {
    // now() reads the steady clock, which has not gone on by `after`.
    clock.follow(machine_time() + after + ahead, now + after);
    return clock.now() + after;
  };
  CHECK(is_near(at(seconds(0), std::chrono::hours(0)), machine_time()));
  CHECK(is_near(at(seconds(1), std::chrono::hours(25)), machine_time()));
  CHECK(is_near(at(std::chrono::minutes(59), std::chrono::hours(25)),
                machine_time() + std::chrono::minutes(59)));
  CHECK(is_near(at(std::chrono::minutes(62), std::chrono::hours(25)),
                machine_time() + std::chrono::minutes(62) + std::chrono::hours(25)));
  CHECK(is_near(at(std::chrono::minutes(63), std::chrono::hours(-1)),
                machine_time() + std::chrono::minutes(63) - std::chrono::hours(1)));
}

TEST_CASE("jobs that are accepted one after the other keep their order, whatever is told between") {
  JobClock clock;
  jobs::WallTime before = clock.now();
  for (int n = 0; n < 2000; ++n) {
    clock.follow(machine_time() - milliseconds(n % 3), Clock::now());
    const jobs::WallTime next = clock.now();
    CHECK(next >= before);
    before = next;
  }
}

TEST_CASE("the machine's clock is of no account once the store has told its own") {
  JobClock clock;
  const TimePoint now = Clock::now();
  clock.follow(machine_time(), now);
  clock.learn(machine_time() + std::chrono::hours(1), now, now);
  clock.follow(machine_time(), now);
  CHECK(is_near(clock.now(), machine_time() + std::chrono::hours(1)));
}

TEST_CASE("a proxy learns the store's time when it joins and each time it renews") {
  Play play(nlohmann::json::object(), true);  // whose store has not told the time yet
  CHECK(is_near(play.dispatcher.clock().now(), machine_time()));
  const jobs::WallTime hour = machine_time() + std::chrono::hours(1);
  play.pass(seconds(6));
  play.ask();
  REQUIRE(play.asked<store::Renew>());
  // The play's steady clock stands at an hour, which the real one is told apart from by a store's
  // time that is as much later.
  const auto later = std::chrono::duration_cast<milliseconds>(Clock::now() - play.now);
  play.answer<store::Renew>([&](store::Renew& renew) { renew.now = hour - later; });
  CHECK(is_near(play.dispatcher.clock().now(), hour));
  play.pass(std::chrono::hours(1));
  play.ask();  // the lease is over
  REQUIRE(play.asked<store::Join>());
  play.answer<store::Join>([&](store::Join& join) {
    join.epoch = 8;
    join.now = hour + std::chrono::hours(1) - (later - std::chrono::hours(1));
  });
  CHECK(is_near(play.dispatcher.clock().now(), hour + std::chrono::hours(1)));
}

}  // namespace spillway::proxy
