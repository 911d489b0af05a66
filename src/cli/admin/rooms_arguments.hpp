// The arguments of `spillway rooms`.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/admin/rooms_command.hpp"

namespace spillway {

// Adds the command with its own subcommands; `to` must outlive the parsing.
void add_rooms(CLI::App& app, RoomsOptions& to);

}  // namespace spillway
