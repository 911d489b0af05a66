#include "resilience/backoff.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace spillway::resilience {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("each attempt waits twice as long until the cap") {
  const Backoff backoff{.base = milliseconds(100), .cap = seconds(1), .jitter = 0};
  Random random(1);
  constexpr std::array<int, 7> expected{100, 200, 400, 800, 1000, 1000, 1000};
  for (std::uint32_t i = 0; i < expected.size(); ++i) {
    CHECK(backoff.delay(i + 1, random) == milliseconds(expected[i]));
  }
  CHECK(backoff.delay(0, random) == milliseconds(100));
}

TEST_CASE("jitter stays within its share and fills it at and below the cap") {
  const Backoff backoff{.base = milliseconds(100), .cap = seconds(1), .jitter = 0.25};
  Random random(2);
  for (const auto& [attempt, plain] : {std::pair{1u, 100.0}, {3u, 400.0}, {9u, 1000.0}}) {
    double least = 1e9;
    double most = 0;
    double sum = 0;
    for (int i = 0; i < 10'000; ++i) {
      const double waited = to_milliseconds(backoff.delay(attempt, random));
      least = std::min(least, waited);
      most = std::max(most, waited);
      sum += waited;
    }
    CHECK(least >= 0.75 * plain - 1e-6);
    CHECK(least < 0.76 * plain);
    CHECK(most <= 1.25 * plain);
    CHECK(most > 1.24 * plain);
    CHECK(sum / 10'000 == doctest::Approx(plain).epsilon(0.01));
  }
}

TEST_CASE("clients that failed together retry in phase only without jitter") {
  Random random(3);
  const auto most_at_once = [&](double jitter) {
    const Backoff backoff{.base = seconds(1), .cap = seconds(4), .jitter = jitter};
    std::array<int, 100> per_slot{};  // of 100 ms
    for (int client = 0; client < 1000; ++client) {
      ++per_slot[static_cast<std::size_t>(backoff.delay(10, random) / milliseconds(100))];
    }
    return *std::max_element(per_slot.begin(), per_slot.end());
  };
  CHECK(most_at_once(0) == 1000);
  CHECK(most_at_once(0.5) < 60);
}

TEST_CASE("no attempt and no setting overflows or waits a negative time") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Random random(4);
  for (const Duration base : {Duration(-1), Duration(0), Duration(1), Duration(seconds(1)),
                              Duration::max(), Duration::min()}) {
    for (const Duration cap :
         {Duration(-1), Duration(0), Duration(seconds(60)), Duration::max(), Duration::min()}) {
      for (const double jitter : {-1.0, 0.0, 0.5, 1.0, 7.0, kNan}) {
        const Backoff backoff{.base = base, .cap = cap, .jitter = jitter};
        for (const std::uint32_t attempt : {0u, 1u, 2u, 63u, 64u, 65u, 1000u, UINT32_MAX}) {
          const Duration waited = backoff.delay(attempt, random);
          CHECK(waited >= Duration::zero());
          if (base <= Duration::zero() || cap <= Duration::zero()) {
            CHECK(waited == Duration::zero());
          } else if (cap == seconds(60)) {
            CHECK(waited <= seconds(120));
          }
        }
      }
    }
  }
  const Backoff patient{.base = Duration(1), .cap = Duration::max(), .jitter = 0};
  CHECK(patient.delay(UINT32_MAX, random) == Duration::max());
}

TEST_CASE("each delay draws one number whatever the jitter") {
  Random random(5);
  Random same(5);
  (void)Backoff{.jitter = 0}.delay(1, random);
  (void)Backoff{.jitter = 1}.delay(7, random);
  same.next();
  same.next();
  CHECK(random.next() == same.next());
}

}  // namespace spillway::resilience
