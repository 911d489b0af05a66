// Reads requests for the pages of waiting rooms: their paths, queries and bodies. Unknown
// parameters and members, or those given twice, are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "waiting/room/waiting_room.hpp"
#include "waiting/token/token_secrets.hpp"

namespace spillway::proxy {

inline constexpr std::size_t kUsualTickets = 50;  // in one page
inline constexpr std::size_t kMostTickets = 200;
inline constexpr std::size_t kMostCalls = 50;     // in one POST
inline constexpr std::size_t kMostMessage = 300;  // characters
inline constexpr std::size_t kMostReason = 200;   // characters
inline constexpr std::int64_t kMostPlace = 10'000'000;

struct RoomsPath {
  enum class Kind : std::uint8_t {
    rooms,
    room,
    tickets,
    ticket,
    move,
    call_one,
    call,
    open,
    close,
    pause,
    resume,
    message,
    secret,
    replace_secret
  };
  Kind kind = Kind::rooms;
  std::string_view room;
  waiting::TicketId ticket{};  // for ticket, move and call_one
};

// True: the path is one of the pages of waiting rooms and of their secret, or below them.
bool is_rooms_path(std::string_view path);
// nullopt: there is no such page.
std::optional<RoomsPath> read_rooms_path(std::string_view path);

// As in queries and reports.
std::string_view status_name(waiting::TicketState state);

struct TicketsListing {
  std::optional<waiting::TicketState> status;  // none: waiting or processing tickets
  bool is_of_ended = false;                    // tickets that are over, instead of a status
  std::size_t limit = kUsualTickets;
  std::optional<std::string> tier;                    // for waiting or processing tickets
  std::optional<std::string> type;                    // likewise, and for sessions
  std::optional<std::string> user;                    // tickets and sessions, in one page
  std::optional<waiting::WaitingRoom::Cursor> after;  // for the line
  waiting::Slot from = 0;                             // for sessions
  std::optional<waiting::TicketId> before;            // for tickets that are over
};

struct CallOrder {
  std::size_t count = 1;
  bool continues_on_error = false;
  std::string type;  // of resources; empty: any
};

struct MessageOrder {
  std::optional<std::string> text;
  std::optional<bool> ends;
};

// The functions below return one sentence if they refuse the input, and accept any bytes.

std::variant<TicketsListing, std::string> read_tickets_query(std::string_view query);
// `next` of a page, which is `after` of the following page.
std::string cursor_of(const waiting::WaitingRoom::Report& last);
std::string cursor_of(waiting::Slot from);
// The reason, if one is given.
std::variant<std::optional<std::string>, std::string> read_cancel_query(std::string_view query);

std::variant<CallOrder, std::string> read_call(std::string_view body);
std::variant<MessageOrder, std::string> read_message(std::string_view body);
std::variant<waiting::Replacement, std::string> read_replacement(std::string_view body);
// How many visitors will be ahead of it.
std::variant<std::size_t, std::string> read_move(std::string_view body);

}  // namespace spillway::proxy
