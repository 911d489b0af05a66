// A visitor's requirement for a waiting room that hands out resources: a program sends it in the
// body of its join, a browser in the query of the link that it follows. Its tier and its user are
// never read from there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "config/waiting_room.hpp"
#include "proxy/request/answer/local_reply.hpp"
#include "proxy/waiting/shared_waiting_room.hpp"
#include "waiting/resources/resources.hpp"

namespace spillway::proxy {

// The parameter of a link; its value is a text as from waiting::to_text().
inline constexpr std::string_view kWantParameter = "spillway-want";

// {"type": …, "sizes": {…}, "duration_ms": …, "max_wait_ms": …}, all optional; or one sentence that
// explains why it is refused. Accepts any bytes.
std::variant<waiting::Ask, std::string> read_ask(std::string_view body);

// The requirement in the target of a visit; empty: none. A sentence: the parameter is malformed.
std::variant<waiting::Ask, std::string> ask_in_link(std::string_view target);

inline bool hands_out(const config::WaitingRoom& settings) {
  return !settings.resources.groups.empty();
}

// The requirement as a stamp carries it: none if no resources are handed out and nothing is asked
// for.
using Understood = std::variant<std::optional<waiting::CarriedWish>, waiting::Unmet>;
Understood understand(SharedWaitingRoom& room, const waiting::Ask& ask, TimePoint now);
// The same for a requirement that was understood before.
std::optional<waiting::CarriedWish> wish_of(SharedWaitingRoom& room, const waiting::Ask& ask,
                                            TimePoint now);
// A stamp's requirement by names; empty if nothing is handed out. nullopt: a reload has changed the
// meaning of its numbers, so it is void: its visitor has to arrive again.
std::optional<waiting::Ask> ask_of(SharedWaitingRoom& room, const waiting::Token& stamp,
                                   TimePoint now);

// 422 (RFC 9110 section 15.5.21): no resource could ever meet it. 400: it is malformed.
LocalReply unmet_response(const waiting::Unmet& unmet);
LocalReply malformed_ask(std::string_view detail);

}  // namespace spillway::proxy
