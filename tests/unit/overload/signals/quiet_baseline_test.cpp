#include "overload/signals/quiet_baseline.hpp"

#include <doctest/doctest.h>

#include "overload/signals/histogram.hpp"

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {

struct Learner {
  QuietBaseline baseline;

  // For so long, in slices of 100 ms with ten samples each.
  void learn(Duration latency, Duration time, bool low_load = true, bool normal = true,
             bool calm = true) {
    BucketCounts slice{};
    slice[bucket_of(latency)] = 10;
    for (Duration passed{0}; passed < time; passed += 100ms)
      baseline.add(slice, 100ms, {.low_load = low_load, .normal = normal, .calm = calm});
  }
  double p95() const { return to_milliseconds(*baseline.quantile(0.95)); }
};

}  // namespace

TEST_CASE("a baseline is known after ten quiet seconds and 200 samples") {
  Learner learner;
  learner.learn(20ms, 5s);
  CHECK_FALSE(learner.baseline.quantile(0.95));
  learner.learn(20ms, 5s);
  CHECK(learner.p95() == doctest::Approx(20).epsilon(0.02));
}

TEST_CASE("the beginning of an overload is not learned") {
  Learner learner;
  learner.learn(20ms, 60s);
  // Slots fill up: for two seconds they still count as few.
  for (int i = 0; i < 20; ++i) {
    learner.learn(900ms, 4s);
    learner.learn(900ms, 60s, false);
  }
  CHECK(learner.p95() == doctest::Approx(20).epsilon(0.02));
}

TEST_CASE(
    "neither load nor an overloaded state is learned, and both are no contradiction for hours") {
  Learner learner;
  learner.learn(20ms, 60s);
  learner.learn(500ms, 8h, false, true);
  learner.learn(500ms, 8h, false, false, false);
  CHECK(learner.p95() == doctest::Approx(20).epsilon(0.02));
}

TEST_CASE("ten quiet minutes are remembered") {
  Learner learner;
  learner.learn(20ms, 10min);
  learner.learn(30ms, 30s);
  CHECK(learner.p95() < 31);
  learner.learn(30ms, 10min);
  CHECK(learner.p95() == doctest::Approx(30).epsilon(0.02));
}

TEST_CASE("hours without requests change nothing") {
  Learner learner;
  learner.learn(20ms, 60s);
  for (int i = 0; i < 36'000; ++i)
    learner.baseline.add(BucketCounts{}, 100ms, {.low_load = true, .normal = true, .calm = true});
  CHECK(learner.p95() == doctest::Approx(20).epsilon(0.02));
}

TEST_CASE("an upstream that stays slow while no request waits is what is usual after ten minutes") {
  Learner learner;
  learner.learn(20ms, 60s);
  learner.learn(100ms, 5min, true, false);
  learner.learn(100ms, 4min, false, false);
  CHECK(learner.p95() == doctest::Approx(20).epsilon(0.02));
  learner.learn(100ms, 2min, true, false);
  CHECK_FALSE(learner.baseline.quantile(0.95));
  learner.learn(100ms, 20s);
  CHECK(learner.p95() == doctest::Approx(100).epsilon(0.02));
}
