// Publishes the draw of places at a waiting room's start, so that any visitor can check it: SHA-256
// of the key before the start, the key itself after it (waiting/terms/start.hpp).
#pragma once

#include <optional>

#include "proxy/request/answer/local_reply.hpp"
#include "proxy/waiting/shared_waiting_room.hpp"

namespace spillway::proxy {

// nullopt: no draw. Once the key is published, no worker admits visitors as of an earlier time.
std::optional<LocalReply> draw_response(SharedWaitingRoom& room, TimePoint now);

}  // namespace spillway::proxy
