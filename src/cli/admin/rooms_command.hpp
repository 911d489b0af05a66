// `spillway rooms`: the operator's actions on waiting rooms, through the admin listener of a
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
  std::string room;                    // empty: list all rooms
  std::string ticket;                  // for show and call (or empty), cancel and move
  std::optional<std::string> status;   // for list
  std::optional<std::string> tier;     // for list
  std::optional<std::string> type;     // for list and call
  std::optional<std::string> user;     // for list: by name
  std::optional<std::string> after;    // for list: the page after this
  std::optional<std::uint64_t> limit;  // for list: tickets
  std::uint64_t count = 1;             // for call
  bool continue_on_error = false;      // likewise
  std::optional<std::string> text;     // for message
  bool ends = false;                   // likewise
  bool goes_on = false;                // likewise
  std::optional<std::string> reason;   // for cancel
  std::string to = "front";            // for move: or a number
  bool at_once = false;                // for replace_secret
  bool yes = false;                    // for message that ends, and for replace_secret at once
};

// Adds the command with its own subcommands; `to` must outlive the parsing.
void add_rooms(CLI::App& app, RoomsOptions& to);

AdminOutcome run_rooms_command(const RoomsOptions& options, std::ostream& out, std::ostream& err);

}  // namespace spillway
