// Changes that the operator made to deferred requests and to waiting rooms, for the log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "store/contract/command.hpp"

namespace spillway::observe {

struct JobChange {
  enum class Kind : std::uint8_t { cancelled, replayed, purged };
  Kind kind = Kind::cancelled;
  std::string client;    // the address that requested it
  store::Filter filter;  // which jobs were selected
  std::uint64_t count = 0;
};

struct RoomChange {
  enum class Act : std::uint8_t {
    open,
    close,
    pause,
    resume,
    message,
    end,    // a message that ends the room
    go_on,  // a message that takes the end back
    call,
    cancel,
    move
  };
  Act act = Act::open;
  std::string client;  // the address that requested it
  std::string room;
  std::string ticket;                   // for cancel and move, and for call if given
  std::optional<std::uint64_t> number;  // call: tickets called; move: the place
  std::optional<std::string> text;      // the message; for cancel: the reason
};

}  // namespace spillway::observe
