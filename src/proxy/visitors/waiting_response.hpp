// What a visitor of a waiting room gets in place of what it asked for: the waiting page, or a
// problem (RFC 9457) for a program.
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
  std::string_view offer{};  // of State::offered: what the page's form sends
};

LocalReply waiting_response(const WaitingFacts& facts);
// The status alone, 200. `more`: as of to_json().
LocalReply status_response(const WaitingFacts& facts, std::string_view more = {});
// Members of a problem (RFC 9457), each followed by a comma.
std::string problem_members(const WaitingFacts& facts, unsigned code);

// A problem that is about the question, not about a place.
Fault waiting_told(std::uint16_t status, StaticText detail);
Fault not_in_waiting_room();
// 503: nothing can be written now.
Fault rooms_unavailable();

// The visitor has given up its place, and carries nothing any more.
LocalReply left_response(const SharedWaitingRoom& room, const config::WaitingRoom& settings);

// Back to the page that a form came from: 303. `lines`: more fields, each with CRLF.
LocalReply back_to_page(const http::RequestHead& head, std::string_view lines = {});
// The same; it then loads itself again or does not.
LocalReply refresh_response(const http::RequestHead& head, bool is_on);
// The field that says where a place that is offered is taken, by POST. `path`: of room_path().
std::string offer_link(const std::string& path);
// The one that says where the place becomes a reservation, likewise; empty: it may not.
std::string reserve_link(const VisitorStatus& status, const std::string& path);

// The visitor keeps the token from then on.
void add_token(LocalReply& response, const SharedWaitingRoom& room,
               const config::WaitingRoom& settings, const waiting::Token& token, TimePoint now,
               bool for_program);
// The visitor's cookie is over.
void take_token(LocalReply& response, const SharedWaitingRoom& room,
                const config::WaitingRoom& settings);

// Where the status of its visitors is served: own_path/rooms/NAME.
std::string room_path(const config::Config& config, const SharedWaitingRoom& room);

}  // namespace spillway::proxy
