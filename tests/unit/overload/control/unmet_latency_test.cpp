#include "overload/control/unmet_latency.hpp"

#include <doctest/doctest.h>

#include <optional>

namespace spillway::overload {
namespace {

using namespace std::chrono_literals;

config::Overload settings() {
  config::Overload result;
  result.window = 2s;
  result.enter = {.latency_p95 = 200ms};
  result.exit = {.latency_p95 = 150ms};
  return result;
}

// Ten windows are 20 s.
struct Watch {
  bool after(std::optional<double> p95, Duration time) {
    OverloadSignals signals;
    signals.latency_p95 = p95;
    for (const TimePoint end = now + time; now < end; now += 100ms) unmet.step(signals, now);
    return unmet.is_on();
  }

  UnmetLatency unmet{settings()};
  TimePoint now = TimePoint{} + 1h;
};

}  // namespace

TEST_CASE("latency above its threshold for ten windows is unmet") {
  Watch watch;
  CHECK_FALSE(watch.after(0.1, 60s));
  CHECK_FALSE(watch.after(0.25, 15s));
  CHECK(watch.after(0.25, 10s));
  CHECK(watch.after(0.1, 15s));  // a while below it ends nothing
  CHECK(watch.after(0.25, 1s));
  CHECK_FALSE(watch.after(0.1, 25s));
  CHECK_FALSE(watch.after(std::nullopt, 60s));
}

TEST_CASE("latency between the exit and enter thresholds is not unmet, nor does it end that") {
  Watch watch;
  CHECK_FALSE(watch.after(0.17, 10min));
  CHECK(watch.after(0.25, 25s));
  for (int n = 0; n < 10; ++n) CHECK(watch.after(0.17, 1min));
  CHECK_FALSE(watch.after(0.1, 25s));
}

TEST_CASE("a reload keeps what was unmet") {
  Watch former, next;
  REQUIRE(former.after(0.25, 25s));
  next.unmet.continue_from(former.unmet);
  CHECK(next.unmet.is_on());
  CHECK(next.after(0.25, 1s));
}

}  // namespace spillway::overload
