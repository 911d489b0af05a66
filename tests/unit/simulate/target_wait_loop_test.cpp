// The adapting target wait in closed loop: how much slots idle while requests are refused, beside a
// fixed target of 20 ms (the negative control, `"regulate": false`).
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "unit/simulate/gate_drive.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

struct Site {
  int slots;
  int service_ms;
  double load;  // of the capacity
};

GateRun play(const Site& site, bool adapts, std::uint64_t seed = 1) {
  const double rate = site.load * site.slots * 1000.0 / site.service_ms;
  const auto client = [&](const char* name, double part) {
    return std::string(R"({"class":")") + name + R"(","rate":)" + std::to_string(part * rate) + "}";
  };
  const int seconds = static_cast<int>(std::clamp(150000 / rate, 8.0, 600.0));
  const std::string text =
      R"({"name":"test","sentence":"A test.","seconds":)" + std::to_string(seconds) +
      R"(,"warm_up_seconds":)" + std::to_string(seconds / 5) + R"(,"backend":{"slots":)" +
      std::to_string(site.slots) + R"(,"service_ms":)" + std::to_string(site.service_ms) +
      R"(,"sigma":0.5},"clients":[)" + client("P0", 0.1) + "," + client("P1", 0.3) + "," +
      client("P2", 0.6) + R"(],"config":{"upstreams":[{"name":"app","servers":["h:1"],)" +
      R"("dispatch":{"concurrency":)" + std::to_string(site.slots) +
      R"(},"overload":{"regulate":)" + (adapts ? "true" : "false") + "}}]}}";
  ScenarioResult result = read_scenario(text, "test.json", nullptr);
  REQUIRE_MESSAGE(result.scenario.has_value(), text, "\n", listing(result.problems));
  result.scenario->seed = seed;
  return GateDrive(*result.scenario).run();
}

std::string row(const Site& site, const GateRun& fixed, const GateRun& adapting) {
  char text[300];
  const auto figures = [&](const GateRun& run) {
    char part[120];
    std::snprintf(part, sizeof part, "idle %5.2f %%, P0 %6.2f %% p99 %4.0f ms, P1 %5.1f, P2 %5.1f",
                  100 * run.idle_share_while_refusing, 100 * run.success(0),
                  1000 * run.wait_quantile(0, 0.99), 100 * run.success(1), 100 * run.success(2));
    return std::string(part);
  };
  std::snprintf(text, sizeof text, "%2d slots x %3d ms, %.1f x | fixed: %s | adapting: %s",
                site.slots, site.service_ms, site.load, figures(fixed).c_str(),
                figures(adapting).c_str());
  return text;
}

}  // namespace

TEST_CASE("slots hardly idle while requests are refused") {
  int cured = 0;
  for (const int service_ms : {2, 20, 200}) {
    for (const int slots : {4, 16, 64}) {
      for (const double load : {1.2, 2.0}) {
        const Site site{slots, service_ms, load};
        const GateRun fixed = play(site, false), adapting = play(site, true);
        MESSAGE(row(site, fixed, adapting));
        const double idle = adapting.idle_share_while_refusing;
        const double before = fixed.idle_share_while_refusing;
        // Turns within half of P2's longest wait: too few of them leave slots idle whatever waits.
        const double turns = 50.0 * slots / service_ms;
        if (turns >= 16) CHECK(idle < 0.005);
        cured += idle < 0.005 && before >= 0.005 ? 1 : 0;
        CHECK(adapting.refused_beside_free_slot == 0);
        CHECK(adapting.success(0) >= std::min(0.999, fixed.success(0)));
        CHECK(adapting.wait_quantile(0, 0.99) <= 1.1 * fixed.wait_quantile(0, 0.99) + 0.001);
        CHECK(adapting.success(1) >= fixed.success(1) - 0.005);
        const bool above_gains = adapting.success(1) > fixed.success(1) + 0.003;
        if (!above_gains) CHECK(adapting.success(2) >= fixed.success(2) - 0.005);
      }
    }
  }
  CHECK(cured >= 2);
}

}  // namespace spillway::simulate
