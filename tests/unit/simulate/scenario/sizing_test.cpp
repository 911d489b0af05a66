// A scenario brought to the size of a site, and what does not fit together.
#include "simulate/scenario/sizing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "config/file/load.hpp"
#include "simulate/run/simulation.hpp"
#include "simulate/scenario/built_in.hpp"
#include "support/places.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

config::Config config_of(const std::string& members) {
  auto result = config::load_text(
      R"({"upstreams":[{"name":"app","servers":["h:1"]}],)" + members + "}", "own.json");
  REQUIRE_MESSAGE(result.config.has_value(), listing(result.problems));
  return std::move(*result.config);
}

ScenarioResult open(const std::string& name, const config::Config* own, const Told& told = {}) {
  ScenarioResult result = open_scenario(name, own, told);
  REQUIRE_MESSAGE(result.scenario.has_value(), listing(result.problems));
  return result;
}

// 16 slots x 20 ms as a file of the user's own.
ScenarioResult read_own(const std::string& members, const config::Config& own) {
  ScenarioResult result = read_scenario(scenario_text(members), "test.json", &own);
  REQUIRE_MESSAGE(result.scenario.has_value(), listing(result.problems));
  return result;
}

bool warns(const ScenarioResult& result, const std::string& path, const std::string& fragment) {
  return std::ranges::any_of(result.warnings, [&](const config::Problem& one) {
    return one.path == path && one.message.find(fragment) != std::string::npos;
  });
}

std::vector<std::string> shipped_configurations() {
  const std::string folder = support::in_source("config");
  std::vector<std::string> out{folder + "/spillway.json"};
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/examples")) {
    if (entry.path().extension() == ".json") out.push_back(entry.path());
  }
  return out;
}

}  // namespace

TEST_CASE("every built-in scenario takes its size from the configuration and keeps its shape") {
  const config::Config own = config_of(R"("dispatch":{"concurrency":32})");
  for (const BuiltIn& one : built_in_scenarios()) {
    CAPTURE(one.name);
    const Scenario plain = *open(std::string(one.name), nullptr).scenario;
    const Scenario fitted = *open(std::string(one.name), &own).scenario;
    const config::Concurrency& former =
        plain.config.upstreams[index(plain.upstream)].dispatch.concurrency;
    // "auto" stands for the slots that there are.
    const double most = former.search ? plain.backend.slots : former.most;
    CHECK(fitted.backend.slots / 32.0 == doctest::Approx(plain.backend.slots / most));
    CHECK(size_of(fitted).load == doctest::Approx(size_of(plain).load));
    CHECK(size_of(fitted).offered * fitted.proxy.request_us ==
          doctest::Approx(size_of(plain).offered * plain.proxy.request_us));
  }
}

TEST_CASE("every built-in scenario keeps its size with a configuration that finds its limit") {
  const config::Config own = config_of(R"("dispatch":{"concurrency":"auto"})");
  for (const BuiltIn& one : built_in_scenarios()) {
    CAPTURE(one.name);
    const ScenarioResult fitted = open(std::string(one.name), &own);
    const Scenario plain = *open(std::string(one.name), nullptr).scenario;
    CHECK(fitted.sizing.empty());
    CHECK(fitted.scenario->backend.slots == plain.backend.slots);
    CHECK(size_of(*fitted.scenario).offered == doctest::Approx(size_of(plain).offered));
  }
}

TEST_CASE("an event loop of the scenario is as loaded at any size") {
  const config::Config own = config_of(R"("dispatch":{"concurrency":32})");
  Scenario lag = *open("lag", &own).scenario;
  CHECK(lag.proxy.request_us == 5000);
  CHECK(simulate(lag, true).changes.size() >= 2);
  // Of the loop that the scenario was written for they are far too few.
  lag.proxy.request_us = 400;
  CHECK(simulate(lag, true).changes.empty());
}

TEST_CASE("a built-in scenario takes its size from the configuration and keeps its load") {
  const Scenario plain = *open("spike", nullptr).scenario;
  for (const std::uint32_t concurrency : {4u, 48u, 64u, 100u, 300u}) {
    CAPTURE(concurrency);
    const config::Config own =
        config_of(R"("dispatch":{"concurrency":)" + std::to_string(concurrency) + "}");
    const ScenarioResult fitted = open("spike", &own);
    CHECK(fitted.scenario->backend.slots == concurrency);
    CHECK(size_of(*fitted.scenario).load == doctest::Approx(size_of(plain).load));
    CHECK(fitted.sizing.empty() == (concurrency == 100));
    CHECK(listing(fitted.warnings) == "");
  }
}

TEST_CASE(
    "with every shipped configuration the spike has more goodput with shedding than without") {
  for (const std::string& path : shipped_configurations()) {
    CAPTURE(path);
    const auto own = config::load_file(path).config;
    REQUIRE(own.has_value());
    const Scenario scenario = *open("spike", &*own).scenario;
    const Recording with = simulate(scenario, true), without = simulate(scenario, false);
    const bool is_shadow =
        own->upstreams[index(scenario.upstream)].overload.mode == config::Mode::shadow;
    if (is_shadow) {
      CHECK(with.goodput == without.goodput);
      CHECK(warns(open("spike", &*own), "$.upstreams[0].overload.mode", "nothing is refused"));
    } else {
      CHECK(with.goodput > without.goodput + 0.2);
      CHECK(with.classes[0].success > 0.99);
    }
  }
}

TEST_CASE("of another size than its configuration the spike shows what is not so") {
  const config::Config own = config_of(R"("dispatch":{"concurrency":16})");
  const Scenario fitted = *open("spike", &own).scenario;
  CHECK(simulate(fitted, true).goodput > simulate(fitted, false).goodput + 0.3);
  Scenario unfitted = *open("spike", nullptr).scenario;
  unfitted.config = own;
  CHECK(simulate(unfitted, true).goodput < simulate(unfitted, false).goodput);
}

TEST_CASE("a configuration that finds its concurrency names no size") {
  const config::Config own = config_of(R"("dispatch":{"concurrency":"auto"})");
  const ScenarioResult spike = open("spike", &own);
  CHECK(spike.scenario->backend.slots == 100);
  CHECK(spike.sizing.empty());
  CHECK(listing(open("spike", &own, {40, {}, {}}).warnings) == "");
}

TEST_CASE("a bound of the limit below the backend's slots is warned of, whatever is played") {
  const char* key = "$.upstreams[0].dispatch.concurrency.max";
  const config::Config own = config_of(R"("dispatch":{"concurrency":{"max":50}})");
  const ScenarioResult spike = open("spike", &own);
  CHECK(warns(spike, key, "50 is below the backend's 100 slots"));
  CHECK(spike.warnings.size() == 1);
  CHECK(listing(open("spike", &own, {50, {}, {}}).warnings) == "");
  // As its file says.
  const auto of_slots = [](int slots) {
    return read_scenario(
        R"({"name":"test","sentence":"A test.","seconds":20,"backend":{"service_ms":20,"slots":)" +
            std::to_string(slots) +
            R"(},"clients":[{"class":"P1","rate":5}],"config":{"upstreams":[{"name":"app",)"
            R"("servers":["h:1"]}]}})",
        "test.json", nullptr);
  };
  CHECK(warns(of_slots(1001), key, "1000 is below the backend's 1001 slots"));
  CHECK(listing(of_slots(1000).warnings) == "");
}

TEST_CASE("a longest wait in which hardly a slot is free is warned of") {
  const auto with = [](const char* its_class) {
    const config::Config own =
        config_of(std::string(R"("dispatch":{"concurrency":8},"classes":[)") + its_class +
                  R"(,{"name":"P1"},{"name":"P2"}])");
    return open("spike", &own, {8, Milliseconds{2000}, {}});
  };
  CHECK(listing(with(R"({"name":"P0"})").warnings) == "");  // it follows
  CHECK(warns(with(R"({"name":"P0","max_wait_ms":500})"), "$.classes[0].max_wait_ms",
              "500 is short where a slot is free every 250 ms"));
  CHECK(listing(with(R"({"name":"P0","max_wait_ms":750})").warnings) == "");
  CHECK(warns(with(R"({"name":"P0","max_wait_ms":5000,"sla_ms":700})"), "$.classes[0].sla_ms",
              "700 is short"));
  CHECK(listing(with(R"({"name":"P0","max_wait_ms":0})").warnings) == "");
}

TEST_CASE("slots that are lost are scaled like those there are") {
  const config::Config own = config_of(R"("dispatch":{"concurrency":10})");
  const ScenarioResult fitted = open("capacity-drop", &own);
  CHECK(fitted.scenario->backend.slots == 10);
  CHECK(fitted.scenario->changes[0].slots == 4);
}

TEST_CASE("several servers are scaled each, and one is shared by the upstream's") {
  const config::Config one = config_of(R"("dispatch":{"concurrency":64})");
  const ScenarioResult burst = open("error-burst", &one);
  REQUIRE(burst.scenario->backend.servers.size() == 3);
  CHECK(burst.scenario->backend.servers[0].slots == 21);
  CHECK(burst.scenario->backend.servers[1].slots == 22);
  CHECK(burst.scenario->backend.slots == 64);
  const config::Config fewer = config_of(R"("dispatch":{"concurrency":2})");
  CHECK(open("error-burst", &fewer).scenario->backend.slots == 3);
  CHECK(warns(burst, "$.upstreams[0].servers", "1 there, 3 in the scenario"));
  auto three = config::load_text(R"({"upstreams":[{"name":"app","servers":["h:1","h:2","h:3"]}]})",
                                 "own.json");
  REQUIRE(three.config.has_value());
  const ScenarioResult spike = open("spike", &*three.config);
  REQUIRE(spike.scenario->backend.servers.size() == 3);
  CHECK(spike.scenario->backend.servers[0].slots == 34);
  CHECK(spike.scenario->backend.servers[2].slots == 33);
  CHECK(simulate(*spike.scenario, true).goodput > 0.95);
}

TEST_CASE("the command line's size goes before the configuration's") {
  const config::Config own = config_of(R"("dispatch":{"concurrency":64})");
  const ScenarioResult told = open("spike", &own, {40, Milliseconds{100}, 600.0});
  const Size size = size_of(*told.scenario);
  CHECK(size.slots == 40);
  CHECK(size.service == doctest::Approx(0.1));
  CHECK(size.capacity == doctest::Approx(400));
  CHECK(size.offered == doctest::Approx(600));
  CHECK(warns(told, "$.upstreams[0].dispatch.concurrency", "64 is above the backend's 40 slots"));
  CHECK(warns(open("spike", &own, {80, {}, {}}), "$.upstreams[0].dispatch.concurrency",
              "below the backend's 80 slots"));
  // Without a rate the load stays what it was.
  CHECK(size_of(*open("spike", &own, {40, Milliseconds{100}, {}}).scenario).load ==
        doctest::Approx(size_of(*open("spike", &own).scenario).load));
}

TEST_CASE("the offered rate is a mean over the run of bursts and ramps too") {
  const Scenario scenario = scenario_of(
      R"("clients":[{"class":"P0","rate":10,"ramp_to":30,"until_seconds":10},
                    {"class":"P1","rate":8,
                     "burst":{"on_ms":1000,"off_ms":3000,"factor":5}}])");
  CHECK(size_of(scenario).offered == doctest::Approx(10 + 16));
  CHECK(size_of(scenario).load == doctest::Approx(26.0 / 800));
  CHECK(about(size_of(scenario)) ==
        "backend: 16 slots x 20 ms, that is 800 requests/s; offered: 26 requests/s, 0.03 of it");
}

TEST_CASE("a scenario file of the user's own is played as it is written") {
  const config::Config own = config_of(R"("dispatch":{"concurrency":64})");
  const ScenarioResult read = read_own(R"("clients":[{"class":"P1","rate":5}])", own);
  CHECK(read.scenario->backend.slots == 16);
  CHECK(read.sizing.empty());
  CHECK(warns(read, "$.upstreams[0].dispatch.concurrency", "64 is above the backend's 16 slots"));
}

TEST_CASE("a latency threshold below what the idle backend needs is warned of") {
  const std::string clients = R"("clients":[{"class":"P1","rate":5}])";
  const auto with_threshold = [&](int milliseconds) {
    return read_own(clients, config_of(R"("dispatch":{"concurrency":16},"overload":{"enter":
        {"latency_p95_ms":)" + std::to_string(milliseconds) +
                                       R"(},"exit":{"latency_p95_ms":1}})"));
  };
  const char* key = "$.upstreams[0].overload.enter.latency_p95_ms";
  // Log-normal of mean 20 ms and sigma 0.5: 40.2 ms.
  CHECK(unloaded_p95(*with_threshold(41).scenario) == doctest::Approx(0.0402).epsilon(0.005));
  CHECK(warns(with_threshold(40), key, "40 is not above the 40 ms"));
  CHECK(listing(with_threshold(41).warnings) == "");
}

TEST_CASE("classes and routes of the scenario's own configuration are played as the nearest") {
  const config::Config own =
      config_of(R"("dispatch":{"concurrency":64},"classes":[{"name":"gold"},{"name":"dust"}])");
  const ScenarioResult spike = open("spike", &own);
  CHECK(class_of(*spike.scenario, spike.scenario->clients[0]) == ClassId{0});
  CHECK(class_of(*spike.scenario, spike.scenario->clients[2]) == ClassId{1});
  CHECK(warns(spike, "$.clients[0].class", R"(no class "P0": played as "gold")"));
  const ScenarioResult shift = open("mix-shift", &own);
  CHECK(warns(shift, "$.clients[1].route", R"(no route "pages": played on its default route)"));
  CHECK(route_of(*shift.scenario, shift.scenario->clients[1]) == RouteId{0});
  // Each name once.
  CHECK(std::ranges::count_if(shift.warnings, [](const config::Problem& one) {
          return one.message.find("\"pages\"") != std::string::npos;
        }) == 1);
}

}  // namespace spillway::simulate
