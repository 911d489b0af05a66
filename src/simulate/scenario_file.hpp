// Reads and checks a scenario, a built-in one or a file.
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

// `own` replaces the scenario's configuration; the clients' classes and routes must then be its
// own. Null: the scenario's.
ScenarioResult read_scenario(std::string_view json, std::string_view file_name,
                             const config::Config* own);

// A built-in scenario of that name; or else, where the text could be a path (a '.' or '/' in it),
// that file.
ScenarioResult open_scenario(const std::string& name_or_path, const config::Config* own);

}  // namespace spillway::simulate
