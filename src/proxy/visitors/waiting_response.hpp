// The response for a visitor that has to wait, in place of the one it requested: the waiting page,
// or a problem (RFC 9457) for a program.
#pragma once

#include "config/waiting_room.hpp"
#include "proxy/request/answer/fault.hpp"
#include "proxy/request/answer/local_reply.hpp"
#include "proxy/request/context/request_context.hpp"
#include "proxy/visitors/visitor_status.hpp"
#include "proxy/waiting/shared_waiting_room.hpp"

namespace spillway::proxy {

struct WaitingFacts {
  const RequestContext& request;
  const SharedWaitingRoom& room;
  const config::WaitingRoom& settings;
  const VisitorStatus& status;
  TimePoint now;
  std::string_view request_id{};
  bool as_page = false;
  std::string_view offer{};  // for State::offered: the value that the page's form sends
};

LocalReply waiting_response(const WaitingFacts& facts);
// Only the status, 200. `more`: as for to_json().
LocalReply status_response(const WaitingFacts& facts, std::string_view more = {});
// Members of a problem (RFC 9457), each followed by a comma.
std::string problem_members(const WaitingFacts& facts, unsigned code);

// A problem about the request itself, not about a place.
Fault waiting_told(std::uint16_t status, StaticText detail);
Fault not_in_waiting_room();
// 503: no row can be written now.
Fault rooms_unavailable();

// The visitor has given up its place: deletes its token.
LocalReply left_response(const SharedWaitingRoom& room, const config::WaitingRoom& settings);

// Redirects to the page that sent the form: 303. `lines`: more fields, each with CRLF.
LocalReply back_to_page(const http::RequestHead& head, std::string_view lines = {});
// The same; from then on the page does or does not reload itself.
LocalReply refresh_response(const http::RequestHead& head, bool is_on);
// The Link field for taking an offered place, by POST. `path`: from room_path().
std::string offer_link(const std::string& path);
// The Link field for making the place a reservation, by POST; empty: not allowed.
std::string reserve_link(const VisitorStatus& status, const std::string& path);

// Gives the token to the visitor.
void add_token(LocalReply& response, const SharedWaitingRoom& room,
               const config::WaitingRoom& settings, const waiting::Token& token, TimePoint now,
               bool for_program);
// Deletes the visitor's cookie.
void take_token(LocalReply& response, const SharedWaitingRoom& room,
                const config::WaitingRoom& settings);

// The path of the status of its visitors: own_path/rooms/NAME.
std::string room_path(const config::Config& config, const SharedWaitingRoom& room);

}  // namespace spillway::proxy
