// What the operator did to a waiting room, for the log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace spillway::observe {

struct RoomChange {
  enum class Act : std::uint8_t {
    open,
    close,
    pause,
    resume,
    message,
    end,    // a message that ends the room
    go_on,  // one that takes the end back
    call,
    cancel,
    move
  };
  Act act = Act::open;
  std::string client;  // the address that asked for it
  std::string room;
  std::string ticket;                   // of cancel, of move, and of call if it was told
  std::optional<std::uint64_t> number;  // call: tickets called; move: the place
  std::optional<std::string> text;      // the message; of cancel: the reason
};

}  // namespace spillway::observe
