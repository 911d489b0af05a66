// Reads and checks a scenario: a built-in one or a file.
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
  std::optional<Scenario> scenario;  // only if there is no problem
  config::Problems problems;         // one syntax error, or all other errors
  config::Problems warnings;         // mismatches, and how they are simulated all the same
  std::string sizing;                // where its size comes from; empty: as written
};

// How a scenario is scaled to the size of a site (sizing.hpp).
struct Sizing {
  Told told;
  bool keeps_shape = false;  // with another configuration: its slots follow the `concurrency`
};

// `own` replaces the scenario's configuration; null: the scenario's. A class that `own` lacks is
// simulated as its class of that rank, a route as its default route, both with a warning; the name
// must occur in one of the two configurations.
ScenarioResult read_scenario(std::string_view json, std::string_view file_name,
                             const config::Config* own, const Sizing& sizing = {});

// A built-in scenario of that name, which keeps its shape; otherwise, if the text could be a path
// (it contains a '.' or '/'), that file, whose backend is used as written.
ScenarioResult open_scenario(const std::string& name_or_path, const config::Config* own,
                             const Told& told = {});

// The table of every key of a scenario file, for its documentation, in Markdown.
std::string scenario_reference();

}  // namespace spillway::simulate
