#include "bench/hostile/probes.hpp"

#include <doctest/doctest.h>

#include <set>

#include "tools/hostile/made_up.hpp"

using namespace spillway;
using namespace spillway::hostile;
using namespace spillway::hostile::test;

TEST_CASE("requests count after the warm-up, by class, and lost ones by cause") {
  Probes probes;
  happen(probes, {.kind = 0, .phase = 0}, {.cause = "timeout"}, Milliseconds(1000));
  happen(probes, {.kind = 0, .phase = kCounted}, ok(), Milliseconds(20), Milliseconds(3));
  happen(probes, {.kind = 0, .phase = kCounted}, {.cause = "timeout"}, Milliseconds(1000));
  happen(probes, {.kind = 1, .phase = kCounted}, {.cause = "status 502"}, Milliseconds(1));
  CHECK(probes.p0().sent == 2);
  CHECK(probes.p0().answered == 1);
  CHECK(probes.p0().latencies == std::vector<Duration>{Milliseconds(20)});
  CHECK(probes.p0().lost == std::map<std::string, std::uint64_t>{{"timeout", 1}});
  CHECK(answered_ratio(probes.p0()) == doctest::Approx(0.5));
  CHECK(answered_ratio(probes.p1()) == 0);
  CHECK(probes.late_p99() == Milliseconds(3));
}

TEST_CASE("nothing sent is nothing answered") { CHECK(answered_ratio(ProbeCounts()) == 0); }

TEST_CASE("honest requests come at their rates from fifty addresses") {
  using namespace std::chrono_literals;
  const auto arrivals = probe_schedule(1s, 20s, 200, 50, 1);
  std::array<int, 2> counted{};
  std::set<int> tenants;
  for (const load::Arrival& arrival : arrivals) {
    if (arrival.phase == kCounted) ++counted.at(arrival.kind);
    tenants.insert(arrival.tenant);
  }
  CHECK(counted[0] == doctest::Approx(4000).epsilon(0.05));
  CHECK(counted[1] == doctest::Approx(1000).epsilon(0.1));
  CHECK(tenants.size() == 50);
  CHECK(*tenants.begin() == 1);  // 0 would be 127.0.0.1, where slowhttptest comes from
}
