// A waiting room with its one session taken and a line before it.
#pragma once

#include <cstddef>
#include <memory>

#include "waiting/room/waiting_room.hpp"

namespace spillway::micro {

// The id of the visitor who came as number `n`.
waiting::TicketId visitor(std::size_t n);

// Visitors 1 to `length` are in line since `now`. Throws std::logic_error if one got no place.
std::unique_ptr<waiting::WaitingRoom> waiting_line(std::size_t length, waiting::Time now);

}  // namespace spillway::micro
