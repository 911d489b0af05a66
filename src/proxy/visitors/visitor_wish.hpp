// What a visitor asks of a waiting room that hands out resources: a program in the body of its
// join, a browser in the query of the link that it follows. Its tier and its user are never read
// from there.
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

// The parameter of a link: its value is as of waiting::to_text().
inline constexpr std::string_view kWantParameter = "spillway-want";

// {"type": …, "sizes": {…}, "duration_ms": …, "max_wait_ms": …}, each of them or none; or one
// sentence for what is refused. Accepts any bytes.
std::variant<waiting::Ask, std::string> read_ask(std::string_view body);

// What the target of a visit asks for; empty: nothing. A sentence: the parameter is no such text.
std::variant<waiting::Ask, std::string> ask_in_link(std::string_view target);

inline bool hands_out(const config::WaitingRoom& settings) {
  return !settings.resources.groups.empty();
}

// What it comes to there, as a stamp carries it: nothing where nothing is handed out and nothing is
// asked for.
using Understood = std::variant<std::optional<waiting::CarriedWish>, waiting::Unmet>;
Understood understand(SharedWaitingRoom& room, const waiting::Ask& ask, TimePoint now);
// The same of what was understood before.
std::optional<waiting::CarriedWish> wish_of(SharedWaitingRoom& room, const waiting::Ask& ask,
                                            TimePoint now);
// What a stamp carries, in words; empty where nothing is handed out. nullopt: a reload has changed
// what its numbers stand for, so that it is spent: its visitor is to come as for the first time.
std::optional<waiting::Ask> ask_of(SharedWaitingRoom& room, const waiting::Token& stamp,
                                   TimePoint now);

// 422 (RFC 9110 section 15.5.21): nothing could ever meet it. 400: it is not understood.
LocalReply unmet_response(const waiting::Unmet& unmet);
LocalReply malformed_ask(std::string_view detail);

}  // namespace spillway::proxy
