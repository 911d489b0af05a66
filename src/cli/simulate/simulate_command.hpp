// `spillway simulate`: runs a scenario and prints its course and a summary.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "config/config.hpp"

namespace spillway {

struct SimulateOptions {
  std::string scenario = "spike";     // a built-in one, or the path of a file
  std::string log;                    // replay this access log instead; needs a configuration
  std::optional<std::uint64_t> seed;  // in place of the scenario's
  // Override the configuration's concurrency or the scenario's own values
  // (simulate/scenario/sizing.hpp).
  std::optional<std::uint32_t> slots;
  std::optional<std::int64_t> service_ms;
  std::optional<double> rps;
  // Runs the same traffic also without shedding; if visitors go through a waiting room, without
  // that; if requests can be deferred, without deferral.
  bool compare = false;
  bool json = false;       // everything as JSON in place of the table
  bool list = false;       // only list the built-in scenarios
  bool reference = false;  // only print the keys of scenario files
  std::string plot;        // where to write an SVG; empty: nowhere
};

enum class SimulateResult : std::uint8_t { done, bad_scenario, plot_failed };

// The part of `--help` about the size of the model.
extern const char* const kSizeHelp;

// A checked `config` replaces the scenario's own unless null. All errors and warnings go to `err`,
// and so does a progress line if `show_progress`.
SimulateResult simulate_scenario(const SimulateOptions& options, const config::Config* config,
                                 std::ostream& out, std::ostream& err, bool show_progress);

}  // namespace spillway
