// How the places of a waiting room are drawn at its start, so that any visitor can check it:
// SHA-256 of the key before the start, the key itself after it (waiting/terms/start.hpp).
#pragma once

#include <optional>

#include "proxy/request/answer/local_reply.hpp"
#include "proxy/waiting/shared_waiting_room.hpp"

namespace spillway::proxy {

// nullopt: places are not drawn. Once the key was shown, no worker takes in a visitor as of before.
std::optional<LocalReply> draw_response(SharedWaitingRoom& room, TimePoint now);

}  // namespace spillway::proxy
