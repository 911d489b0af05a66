// Arguments shared by `spillway jobs` and `spillway rooms`.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/admin/admin_desk.hpp"

namespace spillway {

// Adds a subcommand that calls the admin listener; `to` must outlive the parsing.
inline CLI::App& add_admin_action(CLI::App& parent, AdminOptions& to, const char* name,
                                  const char* help) {
  CLI::App& command = *parent.add_subcommand(name, help);
  command.add_option("--admin", to.admin, "The admin listener")->capture_default_str();
  command.add_option("--token-file", to.token_file, "File whose first line is admin.token");
  command.add_flag("--json", to.json, "Print the answer as it came");
  return command;
}

}  // namespace spillway
