#include "proxy/visitors/waiting_response.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "http/field/cookie.hpp"
#include "proxy/visitors/visitor_tokens.hpp"
#include "waiting/page/waiting_page.hpp"
#include "waiting/token/return_path.hpp"

namespace spillway::proxy {

namespace {

// The cookie of a visitor without scripts whose page must not reload itself (WCAG 2.2.1).
constexpr std::string_view kStillCookie = "spillway_still=1";

std::string retry_after_line(Milliseconds poll) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(poll).count();
  return "Retry-After: " + std::to_string(std::max<std::int64_t>(seconds, 1)) + "\r\n";
}

const config::PageTemplate* own_page(const config::WaitingRoom& settings) {
  return settings.page.own ? &*settings.page.own : nullptr;
}

waiting::Reservation reservation_of(const WaitingFacts& facts) {
  using State = waiting::Reservation::State;
  const auto& terms = facts.settings.tickets.reserve;
  if (!terms) return {};
  const auto& view = facts.status.view;
  if (view && view->is_reserved) return {State::made, terms->claim};
  return {view && view->may_reserve ? State::open : State::closed, terms->claim};
}

// The content refers to `notice` and to `path`, from room_path().
waiting::PageContent content_of(const WaitingFacts& facts, const waiting::Orders& notice,
                                std::string_view path) {
  const http::Field* const languages =
      facts.request.head.fields.find(http::FieldId::accept_language);
  const auto& view = facts.status.view;
  const bool waits = view && facts.status.state == VisitorStatus::State::waiting;
  const bool is_called = view && facts.status.state == VisitorStatus::State::processing;
  const auto estimate = waits ? view->estimate : std::nullopt;
  const bool has_place = waits && !view->is_drawn_later;
  const bool is_early = waits && view->begins;
  return waiting::PageContent{
      .room = facts.room.name(),
      .accept_language = languages != nullptr ? languages->value : std::string_view{},
      .languages = facts.settings.page.languages,
      .message = notice.message,
      .status_path = path,
      .state = name(facts.status.state),
      .reason = facts.status.end ? name(facts.status.end->why) : std::string_view{},
      .poll = facts.status.poll,
      .ahead = has_place ? std::optional(view->ahead) : std::nullopt,
      .p10 = estimate ? std::optional(estimate->p10) : std::nullopt,
      .p90 = estimate ? std::optional(estimate->p90) : std::nullopt,
      .begins_in =
          is_early ? std::optional(*view->begins - facts.room.time_at(facts.now)) : std::nullopt,
      .why = waits ? name(view->why) : std::string_view{},
      .waited = waits ? std::optional(facts.room.time_at(facts.now) - view->joined) : std::nullopt,
      .extensions = is_called ? view->extensions : 0,
      .reservation = reservation_of(facts),
      .refreshes = !http::has_cookie(facts.request.head.fields, kStillCookie),
      .offer = facts.offer,
      .challenge = facts.status.challenge,
      .page = own_page(facts.settings)};
}

std::string_view title_of(const VisitorStatus& status) {
  switch (status.state) {
    case VisitorStatus::State::offered: return "A Place in Line Is Offered";
    case VisitorStatus::State::full: return "Too Many Are Waiting";
    case VisitorStatus::State::ended: return "The Waiting Room Has Ended";
    case VisitorStatus::State::elsewhere: return "This User Has a Place Already";
    default: return "Waiting Room";
  }
}

std::string_view detail_of(const VisitorStatus& status) {
  switch (status.state) {
    case VisitorStatus::State::offered: return "A place in line is offered: ask for it by POST.";
    case VisitorStatus::State::full: return "There is no place in line now: ask again later.";
    case VisitorStatus::State::ended: return "It is over: nobody comes in any more.";
    case VisitorStatus::State::elsewhere:
      return "This user has a ticket or a session already: that of id.";
    default: return "Visitors wait to be let in: ask again for the status.";
  }
}

}  // namespace

Fault waiting_told(std::uint16_t status, StaticText detail) {
  return {.outcome = Outcome::cached, .status = status, .detail = detail};
}

Fault not_in_waiting_room() {
  return waiting_told(404, "There is no such waiting room, or nothing of that name in it.");
}

Fault rooms_unavailable() {
  return {.outcome = Outcome::cached,
          .reason = Reason::store_unavailable,
          .status = 503,
          .detail = "The waiting room cannot be written to now. Places are kept: ask again.",
          .retry_after = Milliseconds(1000)};
}

std::string room_path(const config::Config& config, const SharedWaitingRoom& room) {
  return config.own_path + "/rooms/" + room.name();
}

LocalReply waiting_response(const WaitingFacts& facts) {
  LocalReply response;
  response.status = facts.status.limit != Reason::none ? 429 : facts.settings.page.status;
  // A program that repeats the request would not get further.
  const bool is_elsewhere = facts.status.state == VisitorStatus::State::elsewhere;
  if (is_elsewhere && !facts.as_page) response.status = 409;
  response.lines = "Cache-Control: no-store\r\nX-Robots-Tag: noindex\r\n";
  response.lines += retry_after_line(facts.status.poll);
  const std::string path = room_path(facts.request.config(), facts.room);
  const waiting::Orders notice = facts.room.notice(facts.settings);
  if (facts.as_page) {
    response.lines += "Content-Type: text/html; charset=utf-8\r\nContent-Security-Policy: ";
    response.lines +=
        waiting::waiting_page_csp(own_page(facts.settings), facts.status.challenge.has_value());
    response.lines +=
        "\r\nReferrer-Policy: same-origin\r\nX-Content-Type-Options: nosniff\r\n"
        "Vary: Accept-Language\r\nContent-Language: ";
    const waiting::PageContent content = content_of(facts, notice, path);
    response.lines.append(waiting::waiting_page_language(content)).append("\r\n");
    response.content = waiting::waiting_page(content);
    return response;
  }
  response.lines +=
      "Content-Type: application/problem+json\r\nLink: <" + path + "/ticket>; rel=\"status\"\r\n";
  if (facts.status.state == VisitorStatus::State::offered) response.lines += offer_link(path);
  response.lines += reserve_link(facts.status, path);
  response.content =
      to_json(facts.status, facts.room.name(), notice, facts.room.time_at(facts.now),
              problem_members(facts, response.status) + "\"status_path\":\"" + path + "/ticket\",");
  return response;
}

std::string problem_members(const WaitingFacts& facts, unsigned code) {
  std::string members = "\"type\":\"about:blank\",\"title\":\"";
  members.append(title_of(facts.status)).append("\",\"status\":").append(std::to_string(code));
  members.append(",\"detail\":\"").append(detail_of(facts.status));
  members.append("\",\"reason\":\"").append(name(Reason::waiting_room));
  if (!facts.request_id.empty()) members.append("\",\"request_id\":\"").append(facts.request_id);
  return members.append("\",");
}

LocalReply status_response(const WaitingFacts& facts, std::string_view more) {
  LocalReply response;
  response.lines = "Content-Type: application/json\r\nCache-Control: no-store\r\n";
  if (facts.status.poll > Milliseconds(0)) response.lines += retry_after_line(facts.status.poll);
  response.lines += reserve_link(facts.status, room_path(facts.request.config(), facts.room));
  response.content = to_json(facts.status, facts.room.name(), facts.room.notice(facts.settings),
                             facts.room.time_at(facts.now), more);
  return response;
}

void add_token(LocalReply& response, const SharedWaitingRoom& room,
               const config::WaitingRoom& settings, const waiting::Token& token, TimePoint now,
               bool for_program) {
  std::array<char, kTokenLines> lines;
  TextWriter out(lines);
  write_token(out, room, settings, token, now, for_program);
  if (!out.overflowed()) response.lines.append(lines.data(), out.size());
}

void take_token(LocalReply& response, const SharedWaitingRoom& room,
                const config::WaitingRoom& settings) {
  std::array<char, kTokenLines> lines;
  TextWriter out(lines);
  write_token_end(out, room, settings);
  response.lines.append(lines.data(), out.size());
}

LocalReply left_response(const SharedWaitingRoom& room, const config::WaitingRoom& settings) {
  LocalReply response{204, "Cache-Control: no-store\r\n", ""};
  take_token(response, room, settings);
  return response;
}

LocalReply back_to_page(const http::RequestHead& head, std::string_view lines) {
  const http::Field* const from = head.fields.find(http::FieldId::referer);
  const std::string_view referer = from != nullptr ? from->value : std::string_view{};
  std::string all = "Cache-Control: no-store\r\nLocation: ";
  all.append(waiting::return_path(referer, head.host)).append("\r\n").append(lines);
  return {303, std::move(all), ""};
}

LocalReply refresh_response(const http::RequestHead& head, bool is_on) {
  std::string cookie = "Set-Cookie: ";
  cookie.append(kStillCookie)
      .append("; Path=/; HttpOnly; SameSite=Lax; Max-Age=")
      .append(is_on ? "0\r\n" : "86400\r\n");
  return back_to_page(head, cookie);
}

std::string reserve_link(const VisitorStatus& status, const std::string& path) {
  if (!status.view || !status.view->may_reserve || !status.id) return {};
  return "Link: <" + path + "/tickets/" + to_text(*status.id) + "/reserve>; rel=\"edit\"\r\n";
}

std::string offer_link(const std::string& path) {
  return "Link: <" + path + "/tickets>; rel=\"next\"\r\n";
}

}  // namespace spillway::proxy
