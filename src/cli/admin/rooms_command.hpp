// `spillway rooms`: what the operator does with waiting rooms, through the admin listener of a
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

enum class RoomsAction : std::uint8_t {
  list,
  show,
  call,
  open,
  close,
  pause,
  resume,
  message,
  cancel,
  move,
  secret,
  replace_secret
};

struct RoomsOptions : AdminOptions {
  RoomsAction action = RoomsAction::list;
  std::string room;                    // empty for a list of all
  std::string ticket;                  // of show and call (or empty), cancel and move
  std::optional<std::string> status;   // of list
  std::optional<std::string> tier;     // of list
  std::optional<std::string> type;     // of list and call
  std::optional<std::string> user;     // of list: by name
  std::optional<std::string> after;    // of list: the page behind
  std::optional<std::uint64_t> limit;  // of list: tickets
  std::uint64_t count = 1;             // of call
  bool continue_on_error = false;      // likewise
  std::optional<std::string> text;     // of message
  bool ends = false;                   // likewise
  bool goes_on = false;                // likewise
  std::optional<std::string> reason;   // of cancel
  std::string to = "front";            // of move: or a number
  bool at_once = false;                // of replace_secret
  bool yes = false;                    // of message that ends, and of replace_secret at once
};

// Adds the command with its own subcommands; `to` must outlive the parsing.
void add_rooms(CLI::App& app, RoomsOptions& to);

AdminOutcome run_rooms_command(const RoomsOptions& options, std::ostream& out, std::ostream& err);

}  // namespace spillway
