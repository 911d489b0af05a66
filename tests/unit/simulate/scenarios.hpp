// Scenarios for tests: the built-in ones, and ones written in a line or two.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "simulate/recording/recording.hpp"
#include "simulate/scenario/scenario.hpp"
#include "simulate/scenario/scenario_file.hpp"

namespace spillway::simulate {

inline std::string listing(const config::Problems& problems) {
  std::string out;
  for (const auto& problem : problems) out += problem.path + ": " + problem.message + "\n";
  return out;
}

inline Scenario open_good(const std::string& name) {
  ScenarioResult result = open_scenario(name, nullptr);
  REQUIRE_MESSAGE(result.scenario.has_value(), listing(result.problems));
  return std::move(*result.scenario);
}

// 16 slots of 20 ms, thus 800 requests per second, and what else the members say: `clients`, and
// perhaps others. `config_members` go behind the upstreams, with a comma before them.
inline std::string scenario_text(const std::string& members,
                                 const std::string& config_members = "") {
  return R"({"name":"test","sentence":"A test.","seconds":20,"warm_up_seconds":5,)"
         R"("backend":{"slots":16,"service_ms":20},)" +
         members +
         R"(,"config":{"upstreams":[{"name":"app","servers":["h:1"],)"
         R"("dispatch":{"concurrency":16}}])" +
         config_members + "}}";
}

inline Scenario scenario_of(const std::string& members, const std::string& config_members = "") {
  const std::string text = scenario_text(members, config_members);
  ScenarioResult result = read_scenario(text, "test.json", nullptr);
  REQUIRE_MESSAGE(result.scenario.has_value(), text, "\n", listing(result.problems));
  return std::move(*result.scenario);
}

}  // namespace spillway::simulate
