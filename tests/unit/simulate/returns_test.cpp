// Booked times of return in closed loop: the backend stalls for some seconds, and all the clients
// that are refused come back when Retry-After says so. The negative control is the rule's fixed
// Retry-After.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "simulate/run/simulation.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

// 0.8 of the capacity of 800 a second; nothing is finished from the 15th to the 19th second.
Scenario stall(int retries) {
  const auto clients = [&](const char* name, int rate) {
    return std::string(R"({"class":")") + name + R"(","rate":)" + std::to_string(rate) +
           R"(,"retries":)" + std::to_string(retries) + R"(,"retry_backoff_ms":10})";
  };
  Scenario scenario =
      scenario_of(R"("changes":[{"at_seconds":15,"until_seconds":19,"slots":0}],"clients":[)" +
                  clients("P0", 64) + "," + clients("P1", 192) + "," + clients("P2", 384) + "]");
  scenario.seconds = 150;
  return scenario;
}

std::uint64_t offered(const Second& second) {
  std::uint64_t sum = 0;
  for (const ClassCounts& each : second.classes) sum += each.offered;
  return sum;
}

struct Returns {
  std::uint64_t peak = 0;  // per second
  std::uint64_t total = 0;
};

// The first attempts are those of a run without retries.
Returns returns(std::uint64_t seed, bool is_booked) {
  Scenario scenario = stall(20), once = stall(0);
  scenario.seed = once.seed = seed;
  scenario.books_returns = is_booked;
  const Recording with = simulate(scenario, true), without = simulate(once, true);
  Returns out;
  for (std::size_t s = 0; s < with.seconds.size(); ++s) {
    const std::uint64_t more = offered(with.seconds[s]) - offered(without.seconds[s]);
    out.total += more;
    out.peak = std::max(out.peak, more);
  }
  MESSAGE(std::string(is_booked ? "booked" : "fixed"), ": at most ", out.peak,
          " returns a second, ", out.total, " in all");
  return out;
}

}  // namespace

TEST_CASE("after a stall the clients that were refused come back one after the other") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const Returns booked = returns(seed, true), fixed = returns(seed, false);
    CHECK(booked.peak <= 200);  // 80 are a tenth of the capacity; the lines of classes overlap
    CHECK(fixed.peak >= 4 * booked.peak);
    CHECK(booked.total < 0.7 * double(fixed.total));
  }
}

}  // namespace spillway::simulate
