#include "jobs/estimate.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace spillway;
using namespace spillway::jobs;
using std::chrono::hours;
using std::chrono::seconds;

namespace {

struct Watch {
  Estimate estimate{};
  TimePoint now = TimePoint(hours(1));

  void pass(int count, std::uint64_t ended, bool had_work) {
    for (int i = 0; i < count; ++i) {
      estimate.observe(ended, had_work, now);
      now += seconds(1);
    }
  }
};

}  // namespace

TEST_CASE(
    "an estimate knows nothing before jobs have ended, and Retry-After is what is configured") {
  Watch watch;
  CHECK_FALSE(watch.estimate.wait(1));
  CHECK(watch.estimate.retry_after(1, seconds(30)) == seconds(30));
  watch.pass(100, 0, true);
  CHECK_FALSE(watch.estimate.wait(1));
  CHECK(watch.estimate.retry_after(1, seconds(0)) == seconds(1));
  CHECK(watch.estimate.retry_after(1, hours(9)) == hours(1));
}

TEST_CASE("a steady rate is known after two seconds, without a bias of the beginning") {
  Watch watch;
  watch.pass(3, 50, true);
  REQUIRE(watch.estimate.rate());
  CHECK(*watch.estimate.rate() == doctest::Approx(50).epsilon(0.02));
  watch.pass(600, 50, true);
  CHECK(*watch.estimate.rate() == doctest::Approx(50).epsilon(0.02));
  CHECK(watch.estimate.wait(500)->count() == doctest::Approx(10'000).epsilon(0.02));
  CHECK(watch.estimate.retry_after(500, seconds(1)) >= seconds(10));
}

TEST_CASE("an estimate follows a change within minutes") {
  Watch watch;
  watch.pass(600, 100, true);
  watch.pass(300, 10, true);
  CHECK(*watch.estimate.rate() == doctest::Approx(10).epsilon(0.1));
}

TEST_CASE("a queue that was empty all night is not taken for slow") {
  Watch watch;
  watch.pass(100, 50, true);
  watch.pass(10'000, 0, false);
  CHECK(*watch.estimate.rate() == doctest::Approx(50).epsilon(0.02));
  // negative control: one that had work and did none is
  watch.pass(10'000, 0, true);
  CHECK(watch.estimate.rate().value_or(0) < 0.001);
}

TEST_CASE("a wait is at most an hour, and a position of none has none") {
  Watch watch;
  watch.pass(10, 1, true);
  CHECK(watch.estimate.wait(std::numeric_limits<std::uint64_t>::max()) == hours(1));
  CHECK(watch.estimate.retry_after(1'000'000, seconds(1)) == hours(1));
  CHECK_FALSE(watch.estimate.wait(0));
}

TEST_CASE("a clock that stands still or goes back is harmless") {
  Watch watch;
  watch.pass(100, 50, true);
  const auto before = *watch.estimate.rate();
  watch.estimate.observe(0, true, watch.now - hours(1));
  CHECK(*watch.estimate.rate() == doctest::Approx(before));
}

TEST_CASE("proxies that share a queue do its jobs at the sum of their rates") {
  Watch watch;
  watch.pass(600, 20, true);
  const auto alone = watch.estimate.wait(400)->count();
  CHECK(alone == doctest::Approx(20'000).epsilon(0.02));
  watch.estimate.learn_others(60);
  CHECK(watch.estimate.wait(400)->count() == doctest::Approx(5'000).epsilon(0.02));
  CHECK(watch.estimate.rate_to_tell() == doctest::Approx(20).epsilon(0.02));
  watch.estimate.learn_others(0);  // they have left
  CHECK(watch.estimate.wait(400)->count() == alone);
}

TEST_CASE("a proxy that has done no job yet tells what the others do") {
  jobs::Estimate estimate;
  CHECK_FALSE(estimate.wait(100));
  CHECK(estimate.rate_to_tell() == 0);
  estimate.learn_others(50);
  CHECK(estimate.wait(100)->count() == 2000);
}

TEST_CASE("a proxy whose routes all pause adds nothing to what the others do") {
  Watch watch;
  watch.pass(600, 20, true);
  watch.estimate.learn_others(20);
  watch.estimate.take_part(false);
  CHECK(watch.estimate.rate_to_tell() == 0);
  CHECK(watch.estimate.wait(400)->count() == doctest::Approx(20'000).epsilon(0.02));
  // Nobody does: it is as when there was one, rather than not known.
  watch.estimate.learn_others(0);
  CHECK(watch.estimate.wait(400)->count() == doctest::Approx(20'000).epsilon(0.02));
  watch.estimate.learn_others(20);
  watch.estimate.take_part(true);
  CHECK(watch.estimate.wait(400)->count() == doctest::Approx(10'000).epsilon(0.02));
}

TEST_CASE("where lanes take turns a job ends after as many jobs of each as of its own") {
  CHECK(jobs_until({.position = 3, .lanes = 1, .pending = 1000}) == 3);
  CHECK(jobs_until({.position = 3, .lanes = 100, .pending = 1000}) == 300);
  CHECK(jobs_until({.position = 50, .lanes = 100, .pending = 1000}) == 1000);
  CHECK(jobs_until({.position = 0, .lanes = 100, .pending = 1000}) == 1001);
  CHECK(jobs_until({.position = 3, .lanes = 0, .pending = 0}) == 3);  // totals are a second old
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  CHECK(jobs_until({.position = 1000, .lanes = kMost, .pending = kMost - 1}) == kMost - 1);
}

TEST_CASE("Retry-After is no shorter than the pause before the next attempt") {
  Watch watch;
  watch.pass(600, 20, true);
  CHECK(watch.estimate.retry_after(20, seconds(5)) == seconds(1));
  CHECK(watch.estimate.retry_after(20, seconds(5), seconds(600)) == seconds(600));
  CHECK(watch.estimate.retry_after(20, seconds(5), -seconds(600)) == seconds(1));
  CHECK(watch.estimate.retry_after(40'000, seconds(5), seconds(600)) > seconds(1900));
}
