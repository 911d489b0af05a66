// Arguments that `spillway jobs` and `spillway rooms` have in common.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/admin/admin_desk.hpp"

namespace spillway {

// A subcommand that asks the admin listener; `to` must outlive the parsing.
CLI::App& add_admin_action(CLI::App& parent, AdminOptions& to, const char* name, const char* help);

}  // namespace spillway
