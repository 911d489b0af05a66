// `spillway jobs`: the operator's actions on deferred requests, through the admin listener of a
// running proxy.
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
  std::optional<std::string> id;  // for show, replay, cancel and purge
  // A filter; the admin listener validates the texts.
  std::optional<std::string> state, route, cause;
  std::optional<std::string> accepted_from, accepted_before, ended_from, ended_before;
  std::optional<std::string> after;    // for list: the page after this job
  std::optional<std::uint64_t> limit;  // jobs
  std::optional<double> per_second;    // for replay
  std::optional<std::int64_t> ttl_ms;  // for replay
  bool all = false;                    // for replay and purge: however many match
  bool yes = false;                    // for replay and purge: do it, rather than only show it
};

// Adds the command with its own subcommands; `to` must outlive the parsing.
void add_jobs(CLI::App& app, JobsOptions& to);

AdminOutcome run_jobs_command(const JobsOptions& options, std::ostream& out, std::ostream& err);

}  // namespace spillway
