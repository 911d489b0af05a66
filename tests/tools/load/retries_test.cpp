#include "bench/load/retries.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace spillway;
using namespace spillway::load;

namespace {
const Ending kDenied{.fate = Fate::denied};
const Ending kBusyFor5s{.fate = Fate::denied, .retry_after = 5};
const Ending kLate{.fate = Fate::failed, .cause = std::string(kTimeout)};
}  // namespace

TEST_CASE("a client tries again as often as it may and not after an answer") {
  const Retries twice{.most = 2};
  CHECK(pause_before_retry(twice, {0, 1}, kDenied).has_value());
  CHECK(pause_before_retry(twice, {0, 2}, kLate).has_value());
  CHECK_FALSE(pause_before_retry(twice, {0, 3}, kLate).has_value());
  CHECK_FALSE(pause_before_retry(twice, {0, 1}, {.fate = Fate::ok}).has_value());
  CHECK_FALSE(pause_before_retry({}, {0, 1}, kDenied).has_value());
}

TEST_CASE("pauses double and are the same for the same request only") {
  const Retries retries{.most = 5};
  std::set<Duration> pauses;
  for (std::uint32_t arrival = 0; arrival < 100; ++arrival) {
    for (std::uint32_t attempt = 1; attempt <= 3; ++attempt) {
      const auto pause = pause_before_retry(retries, {arrival, attempt}, kDenied);
      REQUIRE(pause.has_value());
      const Duration middle = Milliseconds(200) * (1 << (attempt - 1));
      CHECK(*pause >= middle / 2);
      CHECK(*pause <= middle * 3 / 2);
      CHECK(pause == pause_before_retry(retries, {arrival, attempt}, kDenied));
      pauses.insert(*pause);
    }
  }
  CHECK(pauses.size() == 300);
}

TEST_CASE("clients that honour Retry-After wait for it and the others do not") {
  CHECK(pause_before_retry({.most = 1}, {0, 1}, kBusyFor5s) == std::chrono::seconds(5));
  CHECK(pause_before_retry({.most = 1, .honouring = 0}, {0, 1}, kBusyFor5s) <
        std::chrono::seconds(1));
  int waiting = 0;
  for (std::uint32_t arrival = 0; arrival < 10000; ++arrival) {
    const Retries half{.most = 5, .honouring = 0.5};
    const bool waits =
        *pause_before_retry(half, {arrival, 1}, kBusyFor5s) == std::chrono::seconds(5);
    const bool still =
        *pause_before_retry(half, {arrival, 2}, kBusyFor5s) == std::chrono::seconds(5);
    CHECK(waits == still);
    waiting += waits ? 1 : 0;
  }
  CHECK(waiting == doctest::Approx(5000).epsilon(0.05));
}

TEST_CASE("a Retry-After shorter than the pause does not shorten it") {
  const Ending now{.fate = Fate::denied, .retry_after = 0};
  CHECK(pause_before_retry({.most = 1}, {7, 1}, now) ==
        pause_before_retry({.most = 1}, {7, 1}, kDenied));
}
