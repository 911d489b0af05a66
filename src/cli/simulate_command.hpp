// `spillway simulate`: runs a scenario and says what it was like.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "config/config.hpp"

namespace spillway {

struct SimulateOptions {
  std::string scenario = "spike";     // a built-in one, or the path of a file
  std::optional<std::uint64_t> seed;  // in place of the scenario's
  bool compare = false;               // the same traffic without shedding, too
  bool json = false;                  // everything as JSON in place of the table
  bool list = false;                  // only which scenarios are built in
  std::string plot;                   // where to write an SVG; empty: nowhere
};

enum class SimulateResult : std::uint8_t { done, bad_scenario, plot_failed };

// `config` is one that load() accepted, in place of the scenario's own; null: the scenario's. What
// is wrong goes to `err`, all of it, and so does a line of progress if it is wanted.
SimulateResult simulate_scenario(const SimulateOptions& options, const config::Config* config,
                                 std::ostream& out, std::ostream& err, bool show_progress);

}  // namespace spillway
