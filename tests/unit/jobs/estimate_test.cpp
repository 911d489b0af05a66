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
