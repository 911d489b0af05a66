// The arguments of `spillway jobs`.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/admin/jobs_command.hpp"

namespace spillway {

// Adds the command with its own subcommands; `to` must outlive the parsing.
void add_jobs(CLI::App& app, JobsOptions& to);

}  // namespace spillway
