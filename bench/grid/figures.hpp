// The figures of a run. Fields: README.md.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "bench/grid/play.hpp"

namespace spillway::grid {

// Adds them to a result line; a figure that says nothing in this run is left out.
void add_figures(const Run& run, nlohmann::ordered_json& line);

// To six significant digits, for people to read.
void round_figures(nlohmann::ordered_json& line);

// The whole result line of a run, with a line break.
std::string result_line(const Run& run, const Contender& contender);

}  // namespace spillway::grid
