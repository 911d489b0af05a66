// Reads and checks a scenario, a built-in one or a file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "config/problem.hpp"
#include "simulate/scenario/scenario.hpp"
#include "simulate/scenario/sizing.hpp"

namespace spillway::simulate {

struct ScenarioResult {
  std::optional<Scenario> scenario;  // only when there is no problem at all
  config::Problems problems;         // one syntax error, or everything else that is wrong
  config::Problems warnings;         // what does not fit, and how it is played all the same
  std::string sizing;                // where its size comes from; empty: as written
};

// How a scenario is brought to the size of a site (sizing.hpp).
struct Sizing {
  Told told;
  bool keeps_shape = false;  // with another configuration: its slots follow the `concurrency`
};

// `own` replaces the scenario's configuration; null: the scenario's. A class that `own` lacks is
// played as its class of that rank, a route as its default route, both with a warning; the name
// must be one of either configuration.
ScenarioResult read_scenario(std::string_view json, std::string_view file_name,
                             const config::Config* own, const Sizing& sizing = {});

// A built-in scenario of that name, which keeps its shape; or else, where the text could be a path
// (a '.' or '/' in it), that file, whose backend is what it says.
ScenarioResult open_scenario(const std::string& name_or_path, const config::Config* own,
                             const Told& told = {});

// The table of every key of a scenario file, for its documentation, in Markdown.
std::string scenario_reference();

}  // namespace spillway::simulate
