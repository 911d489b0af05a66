#include "resilience/health.hpp"

#include <doctest/doctest.h>

namespace spillway::resilience {

TEST_CASE("checks in a row that agree turn a server's health") {
  Health health(2, 3);
  CHECK(health.state() == HealthState::unknown);
  CHECK_FALSE(health.record(true));
  CHECK(health.record(true));
  CHECK(health.state() == HealthState::well);
  CHECK_FALSE(health.record(false));
  CHECK_FALSE(health.record(false));
  CHECK(health.record(false));
  CHECK(health.state() == HealthState::unwell);
  CHECK_FALSE(health.record(false));
  CHECK_FALSE(health.record(true));
  CHECK(health.record(true));
  CHECK(health.state() == HealthState::well);
}

TEST_CASE("one check that disagrees starts the count anew") {
  Health health(2, 3);
  for (int n = 0; n < 100; ++n) {
    CHECK_FALSE(health.record(false));
    CHECK_FALSE(health.record(false));
    CHECK_FALSE(health.record(true));
  }
  CHECK(health.state() == HealthState::unknown);
  health.adopt(HealthState::well);
  for (int n = 0; n < 100; ++n) {
    CHECK_FALSE(health.record(false));
    CHECK_FALSE(health.record(false));
    CHECK_FALSE(health.record(true));
  }
  CHECK(health.state() == HealthState::well);
}

TEST_CASE("a health that was known before goes on with a fresh count") {
  Health health(1, 2);
  CHECK_FALSE(health.record(false));
  health.adopt(HealthState::unwell);
  CHECK(health.record(true));
  CHECK_FALSE(health.record(false));
  CHECK(health.record(false));
}

TEST_CASE("a threshold of none is one") {
  Health health(0, 0);
  CHECK(health.record(false));
  CHECK(health.record(true));
}

}  // namespace spillway::resilience
