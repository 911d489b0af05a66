// From a name or a file to a checked scenario. Nothing is simulated from a bad one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "config/problem.hpp"
#include "simulate/scenario.hpp"

namespace spillway::simulate {

struct ScenarioResult {
  std::optional<Scenario> scenario;  // only when there is no problem at all
  config::Problems problems;         // one syntax error, or everything else that is wrong
};

// `own` is the configuration to simulate in place of the scenario's; null: the scenario's. Then
// the clients' classes and routes must be its own, too.
ScenarioResult read_scenario(std::string_view json, std::string_view file_name,
                             const config::Config* own);

// A built-in scenario of that name; or else, where the text could be a path (a '.' or '/' in it),
// that file.
ScenarioResult open_scenario(const std::string& name_or_path, const config::Config* own);

}  // namespace spillway::simulate
