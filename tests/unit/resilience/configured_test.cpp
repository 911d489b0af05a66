// The limits that the proxy and the simulator make of a configuration.
#include "resilience/configured.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>

namespace spillway::resilience {
namespace {

using std::chrono::milliseconds;

TEST_CASE("a share of the servers may be ejected, none where no failures eject") {
  config::Ejection settings;
  settings.max_ejected_ratio = 0.5;
  CHECK(ejection_limits(settings, 5).max_ejected == 2);
  settings.consecutive_failures = 0;
  CHECK(ejection_limits(settings, 5).max_ejected == 0);
}

TEST_CASE("a circuit stays open as long as configured, longer each time") {
  config::CircuitBreaker settings;
  settings.open = milliseconds(300);
  settings.max_open = milliseconds(900);
  settings.min_samples = 7;
  const CircuitBreakerLimits limits = circuit_breaker_limits(settings);
  CHECK(limits.open_for.base == milliseconds(300));
  CHECK(limits.open_for.cap == milliseconds(900));
  CHECK(limits.min_samples == 7);
}

TEST_CASE("requests that failed together do not retry in phase") {
  config::Retries settings;
  settings.backoff = milliseconds(100);
  settings.max_backoff = milliseconds(150);
  const Backoff backoff = retry_backoff(settings);
  Random random(1);
  Duration least = Duration::max();
  Duration most{0};
  for (int i = 0; i < 1000; ++i) {
    const Duration pause = backoff.delay(2, random);
    least = std::min(least, pause);
    most = std::max(most, pause);
  }
  CHECK(least >= milliseconds(75));
  CHECK(least < milliseconds(80));
  CHECK(most <= milliseconds(225));
  CHECK(most > milliseconds(220));
}

}  // namespace
}  // namespace spillway::resilience
