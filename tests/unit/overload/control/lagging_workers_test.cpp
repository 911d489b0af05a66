#include "overload/control/lagging_workers.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;

namespace {

constexpr double kAbove = 0.12;

struct Watched {
  bool step(const std::vector<double>& lags, Duration passed = 100ms) {
    return workers.step(lags, kAbove, now += passed);
  }

  LaggingWorkers workers;
  TimePoint now = TimePoint{} + 1h;
};

}  // namespace

TEST_CASE("a worker lags above the threshold and for twenty seconds after that") {
  Watched watched;
  CHECK_FALSE(watched.step({0, 0.12, 0}));
  CHECK(watched.step({0, 0.121, 0}));
  CHECK_FALSE(watched.workers.lags(0));
  CHECK(watched.workers.lags(1));
  CHECK_FALSE(watched.step({0, 0, 0}, 19s));
  CHECK(watched.workers.lags(1));
  CHECK(watched.step({0.3, 0, 0}, 1s));
  CHECK(watched.workers.lags(0));
  CHECK_FALSE(watched.workers.lags(1));
}

TEST_CASE("without workers that are told apart or without a threshold all lag") {
  LaggingWorkers workers;
  CHECK(workers.lags(0));
  const std::vector<double> lags{0, 0.3};
  workers.step(lags, kAbove, TimePoint{} + 1h);
  CHECK_FALSE(workers.lags(0));
  workers.step(lags, std::nullopt, TimePoint{} + 1h);
  CHECK(workers.lags(0));
  workers.step({}, kAbove, TimePoint{} + 1h);
  CHECK(workers.lags(0));
}
