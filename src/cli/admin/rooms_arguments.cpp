// The arguments of `spillway rooms`.
#include <string>

#include "cli/admin/admin_arguments.hpp"
#include "cli/admin/rooms_command.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway {

namespace {

std::string is_ticket_id(const std::string& text) {
  return waiting::parse_ticket_id(text) ? "" : "not the id of a ticket: " + text;
}

std::string is_place(const std::string& text) {
  const bool is_number = !text.empty() && text.size() <= 8 &&
                         text.find_first_not_of("0123456789") == std::string::npos && text != "0";
  return is_number || text == "front" ? "" : "neither \"front\" nor a place from 1 on: " + text;
}

CLI::App& add_act(CLI::App& rooms, RoomsOptions& to, RoomsAction action, const char* name,
                  const char* help) {
  CLI::App& command = add_admin_action(rooms, to, name, help);
  command.callback([&to, action] { to.action = action; });
  return command;
}

CLI::Option* add_room(CLI::App& command, RoomsOptions& to) {
  return command.add_option("ROOM", to.room, "The waiting room: its route's name");
}

CLI::Option* add_ticket(CLI::App& command, RoomsOptions& to) {
  return command.add_option("ID", to.ticket, "A ticket")->check(is_ticket_id, "");
}

CLI::Option* add_yes(CLI::App& command, RoomsOptions& to) {
  return command.add_flag("--yes", to.yes, "Do it; without it only what would end is shown");
}

void add_message(CLI::App& rooms, RoomsOptions& to) {
  CLI::App& message =
      add_act(rooms, to, RoomsAction::message, "message", "Tell something to all who wait");
  add_room(message, to)->required();
  message.add_option("TEXT", to.text, "The message; '' for that of the configuration");
  CLI::Option* const ends =
      message.add_flag("--ends", to.ends,
                       "It is over (sold out): this ends all tickets at once, and none comes back");
  message.add_flag("--goes-on", to.goes_on, "It is not over after all")->excludes(ends);
  add_yes(message, to)->needs(ends);
}

void add_secrets(CLI::App& rooms, RoomsOptions& to) {
  add_act(rooms, to, RoomsAction::secret, "secret", "Which secret signs visitors' tokens");
  CLI::App& replace = add_act(rooms, to, RoomsAction::replace_secret, "replace-secret",
                              "Have another secret sign visitors' tokens");
  CLI::Option* const at_once = replace.add_flag(
      "--at-once", to.at_once, "Accept no token of before: all places and sessions are lost");
  add_yes(replace, to)->needs(at_once);
}

}  // namespace

void add_rooms(CLI::App& app, RoomsOptions& to) {
  CLI::App& rooms = *app.add_subcommand("rooms", "See and change the waiting rooms of a proxy");
  rooms.require_subcommand(1);
  CLI::App& list = add_act(rooms, to, RoomsAction::list, "list",
                           "List the waiting rooms, or the tickets of one, in order. A room that "
                           "is open has visitors wait; where it is closed they enter without a "
                           "ticket");
  add_room(list, to);
  list.add_option("--status", to.status,
                  "Only tickets that are so: waiting, processing, fulfilled, ended");
  list.add_option("--tier", to.tier, "Only tickets of this tier");
  list.add_option("--type", to.type, "Only tickets and sessions of this type of resource");
  list.add_option("--user", to.user, "Only tickets and sessions of this verified user");
  list.add_option("--after", to.after, "Go on behind this page");
  list.add_option("--limit", to.limit, "Tickets at most (50)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
  CLI::App& show = add_act(rooms, to, RoomsAction::show, "show", "One waiting room, or one ticket");
  add_room(show, to)->required();
  add_ticket(show, to);
  CLI::App& call =
      add_act(rooms, to, RoomsAction::call, "call",
              "Call the next in line, or one ticket also if its visitor is away, beyond the pace");
  add_room(call, to)->required();
  CLI::Option* const one = add_ticket(call, to);
  call.add_option("--count", to.count, "So many (1)")->check(CLI::Range(1, 50))->excludes(one);
  call.add_option("--type", to.type, "Only those who ask for this type of resource");
  call.add_flag("--continue-on-error", to.continue_on_error, "Go on where one cannot be called");
  add_room(add_act(rooms, to, RoomsAction::open, "open",
                   "Hold the waiting room open: all visitors wait, even if there is room"),
           to)
      ->required();
  add_room(add_act(rooms, to, RoomsAction::close, "close",
                   "Undo open: visitors wait when the configuration says so"),
           to)
      ->required();
  add_room(add_act(rooms, to, RoomsAction::pause, "pause", "Call nobody"), to)->required();
  add_room(add_act(rooms, to, RoomsAction::resume, "resume", "Call again"), to)->required();
  add_message(rooms, to);
  CLI::App& cancel = add_act(rooms, to, RoomsAction::cancel, "cancel", "End a ticket or a session");
  add_room(cancel, to)->required();
  add_ticket(cancel, to)->required();
  cancel.add_option("--reason", to.reason, "For the log");
  CLI::App& move = add_act(rooms, to, RoomsAction::move, "move", "Move a ticket within the line");
  add_room(move, to)->required();
  add_ticket(move, to)->required();
  move.add_option("--to", to.to, "A place from 1 on, or front")->check(is_place, "");
  add_secrets(rooms, to);
}

}  // namespace spillway
