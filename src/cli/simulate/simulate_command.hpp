// `spillway simulate`: runs a scenario and prints its course and summary.
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
  // In place of the configuration's concurrency or the scenario's own figures
  // (simulate/scenario/sizing.hpp).
  std::optional<std::uint32_t> slots;
  std::optional<std::int64_t> service_ms;
  std::optional<double> rps;
  // The same traffic without shedding, too; where visitors go through a waiting room, without that;
  // where requests can be deferred, without deferral.
  bool compare = false;
  bool json = false;       // everything as JSON in place of the table
  bool list = false;       // only list the built-in scenarios
  bool reference = false;  // only print the keys of scenario files
  std::string plot;        // where to write an SVG; empty: nowhere
};

enum class SimulateResult : std::uint8_t { done, bad_scenario, plot_failed };

// What `--help` says of the size of the model.
extern const char* const kSizeHelp;

// `config`, checked, replaces the scenario's own unless null. All errors and warnings go to `err`,
// as does a line of progress if `show_progress`.
SimulateResult simulate_scenario(const SimulateOptions& options, const config::Config* config,
                                 std::ostream& out, std::ostream& err, bool show_progress);

}  // namespace spillway
