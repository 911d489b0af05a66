// `spillway jobs`: what the operator does with deferred requests, through the admin listener of a
// proxy that runs.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "cli/admin/admin_desk.hpp"

namespace CLI {
class App;
}

namespace spillway {

enum class JobsAction : std::uint8_t { list, show, replay, cancel, purge };

struct JobsOptions : AdminOptions {
  JobsAction action = JobsAction::list;
  std::optional<std::string> id;  // of show, replay, cancel and purge
  // A filter; the admin listener judges the texts.
  std::optional<std::string> state, route, cause;
  std::optional<std::string> accepted_from, accepted_before, ended_from, ended_before;
  std::optional<std::string> after;    // of list: the page behind this job
  std::optional<std::uint64_t> limit;  // jobs
  std::optional<double> per_second;    // of replay
  std::optional<std::int64_t> ttl_ms;  // of replay
  bool all = false;                    // replay and purge: however many match
  bool yes = false;                    // replay and purge: not only what would happen
};

// Adds the command with its own subcommands; `to` must outlive the parsing.
void add_jobs(CLI::App& app, JobsOptions& to);

AdminOutcome run_jobs_command(const JobsOptions& options, std::ostream& out, std::ostream& err);

}  // namespace spillway
