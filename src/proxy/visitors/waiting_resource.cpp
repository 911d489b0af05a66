#include "proxy/visitors/waiting_resource.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "http/field/accept.hpp"
#include "proxy/visitors/visit.hpp"
#include "proxy/visitors/visitor_identity.hpp"
#include "proxy/visitors/visitor_wish.hpp"
#include "proxy/visitors/waiting_draw.hpp"
#include "proxy/visitors/waiting_response.hpp"

namespace spillway::proxy {

namespace {

using waiting::Time;
using waiting::Token;
using waiting::TokenKind;
using waiting::WaitingRoom;

constexpr std::string_view kRooms = "/rooms/";
constexpr std::string_view kTickets = "/tickets";

}  // namespace

bool WaitingResource::is_for(std::string_view path) { return path.starts_with(kRooms); }

bool WaitingResource::find(std::string_view name) {
  const Generation& generation = request_.generation->generation();
  for (std::size_t n = 0; n < generation.waiting_rooms.size(); ++n) {
    SharedWaitingRoom* const room = generation.waiting_rooms[n].get();
    if (room == nullptr || room->name() != name) continue;
    room_ = room;
    settings_ = &*generation.config.routes[n].waiting_room;
    return true;
  }
  return false;
}

Task<Answer> WaitingResource::answer(std::string_view path) {
  path.remove_prefix(kRooms.size());
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos || !find(path.substr(0, slash)))
    co_return not_in_waiting_room();
  const std::string_view part = path.substr(slash);
  if (part == kTickets || part.starts_with(std::string(kTickets) + "/")) {
    const Answer told = co_await answer_tickets(part.substr(kTickets.size()));
    co_return told;
  }
  const http::Verb method = request_.head.method;
  if (part == "/join" && method == http::Verb::post) {
    const Answer accepted = co_await accept();
    co_return accepted;
  }
  const bool is_refresh = part == "/refresh/on" || part == "/refresh/off";
  const bool is_form = is_refresh || part == "/leave" || part == "/extend" || part == "/reserve" ||
                       part == "/rejoin" || part == "/join";
  if (is_form) {
    if (method != http::Verb::post) co_return wrong_method("POST");
    const Answer done = co_await answer_form(part);
    co_return done;
  }
  auto draw = part == "/draw" ? draw_response(*room_, services_.now()) : std::nullopt;
  if (!draw && part != "/ticket" && part != "/events") co_return not_in_waiting_room();
  const bool is_read = method == http::Verb::get || method == http::Verb::head;
  if (!is_read) co_return wrong_method("GET, HEAD");
  if (draw) {
    response_ = *std::move(draw);
    co_return WaitingReport{};
  }
  if (part == "/events" && method == http::Verb::get) {
    const Answer begun = co_await begin_events();
    co_return begun;
  }
  const Answer shown = co_await show();
  co_return shown;
}

// POST, except the form that takes a place. /leave requires a field that no form can send.
Task<Answer> WaitingResource::answer_form(std::string_view part) {
  if (part == "/leave") return leave();
  if (is_of_another_origin(request_.head, request_.client.trusted())) return refuse_form();
  if (part == "/extend") return extend();
  if (part == "/reserve") return reserve();
  if (part == "/rejoin") return rejoin();
  return answer_refresh(part == "/refresh/on");
}

Task<Answer> WaitingResource::refuse_form() {
  co_return waiting_told(403, "A form of the waiting page counts only from that page.");
}

Task<Answer> WaitingResource::answer_refresh(bool is_on) {
  response_ = refresh_response(request_.head, is_on);
  co_return WaitingReport{};
}

Answer WaitingResource::wrong_method(std::string_view allowed) {
  response_ = {405, "Allow: " + std::string(allowed) + "\r\nCache-Control: no-store\r\n", ""};
  return WaitingReport{};
}

// No row was written for it.
Answer WaitingResource::unanswered(bool is_limited) const {
  if (!is_limited) return rooms_unavailable();
  return too_many_visits(Reason::join_limit, stamp_poll(*settings_));
}

// It has sent too many requests, or has not done its work.
Answer WaitingResource::refuse_visit(const VisitorStatus& status) {
  if (status.limit == Reason::work_required) return work_required();
  return too_many_visits(status.limit, status.poll);
}

Task<Answer> WaitingResource::show() {
  const VisitorStatus status = co_await ask();
  if (status.limit != Reason::none) co_return refuse_visit(status);
  response_ = status_response({.request = request_,
                               .room = *room_,
                               .settings = *settings_,
                               .status = status,
                               .now = services_.now()});
  if (status.state == VisitorStatus::State::offered)
    response_.lines += offer_link(room_path(request_.config(), *room_));
  if (given_)
    add_token(response_, *room_, *settings_, *given_, services_.now(), tokens_.is_program());
  co_return WaitingReport{};
}

// The visitor has read that its place has ended. If a second tab has got a new place, that is left
// alone.
Task<Answer> WaitingResource::rejoin() {
  const std::optional<Token> token = tokens_.find(*room_, services_.now());
  const bool is_over = token && room_->with(services_.now(), [&](WaitingRoom& room, Time now) {
    return room.end_of(token->id, now).has_value();
  });
  response_ = back_to_page(request_.head);
  if (is_over) take_token(response_, *room_, *settings_);
  co_return WaitingReport{};
}

// It never lets a visitor in: that takes a request for the route itself.
Task<VisitorStatus> WaitingResource::ask() {
  const std::optional<Token> token = tokens_.find(*room_, services_.now());
  if (!token) co_return ask_with_none();
  if (token->kind == TokenKind::pass) co_return ask_with_pass(*token);
  if (token->kind == TokenKind::ticket) co_return ask_with_ticket(*token);
  if (only_looks(request_.head)) co_return ask_with_none();
  VisitorStatus status = co_await ask_with_stamp(*token);
  co_return status;
}

VisitorStatus WaitingResource::ask_with_ticket(const Token& ticket) {
  const SharedWaitingRoom::Asked asked = room_->ask(ticket, services_.now());
  if (asked.view) given_ = waiting::renewal_of(ticket);
  return status_of(asked, ticket, here());
}

VisitorStatus WaitingResource::ask_with_pass(const Token& pass) {
  std::optional<WaitingRoom::View> view;
  bool may_be_inside = true;
  bool is_in_line = false;  // its first pass came late
  const auto end = room_->with(services_.now(), [&](WaitingRoom& room, Time now) {
    view = room.peek(pass.id);
    is_in_line = view && view->state != waiting::TicketState::fulfilled;
    if (!is_in_line && !room.hands_out()) view.reset();
    // Another proxy may have its session.
    may_be_inside =
        room_->is_shared() || room.may_be_inside(pass.id, pass.generation, pass.time, now);
    return room.end_of(pass.id, now);
  });
  if (is_in_line)
    return ask_with_ticket(waiting::ticket_of_pass(pass, view->joined, view->priority));
  if (end) return status_at_end(pass.id, *end, here());
  if (!may_be_inside) return status_without_place(here());
  VisitorStatus status{.state = VisitorStatus::State::fulfilled, .poll = settings_->page.poll.max};
  status.id = pass.id;
  status.view = std::move(view);
  return status;
}

Task<VisitorStatus> WaitingResource::ask_with_stamp(Token stamp) {
  using State = VisitorStatus::State;
  const TimePoint now = services_.now();
  if (room_->time_at(now) - stamp.time > stamp_life(*settings_)) co_return ask_with_none();
  const bool is_open =
      room_->with(now, [](WaitingRoom& room, Time time) { return room.has_to_wait(time); });
  const VisitorStatus closed{.state = State::closed, .poll = settings_->page.poll.min};
  // A visitor that has done the work joins although no visitor has to wait: without the work it
  // would not be let in if its network has used up its share.
  const bool has_work = !tokens_.work().empty() && challenge_of(*settings_, stamp);
  if (!is_open && (!has_work || offers_places(*settings_))) co_return closed;
  const auto wanted = ask_of(*room_, stamp, now);
  if (!wanted) co_return ask_with_none();
  std::optional<WaitingRoom::Contact> contact;
  if (offers_places(*settings_)) {  // a poll does not take a place that is only offered
    const auto offered = co_await ask_for_offer(*room_, stamp, asker());
    contact = offered;
  } else {
    const auto arrival = waiting::arrival_of(stamp, room_->time_at(now), stamp_life(*settings_));
    const Joiner joiner{client_address(request_), tokens_.work()};
    const Joining joining =
        co_await ask_to_join(*room_, arrival.value_or(stamp), *wanted, joiner, *settings_, asker());
    if (joining.refused != Reason::none && !is_open) co_return closed;
    if (joining.refused != Reason::none)
      co_return status_of(joining.refused, stamp_poll(*settings_));
    contact = joining.contact;
  }
  if (!contact) co_return VisitorStatus{.poll = stamp_poll(*settings_)};
  if (contact->session) {
    given_ = ticket_of(stamp, stamp.time);  // by which it claims the session
    co_return closed;
  }
  if (!contact->view && contact->door == WaitingRoom::Door::wait)
    co_return VisitorStatus{.state = State::offered, .poll = settings_->page.poll.max};
  // After a reload no resource meets its requirement: it has to arrive again.
  if (contact->door == WaitingRoom::Door::unmet) co_return ask_with_none();
  if (!contact->view) co_return turned_away(contact->door, *room_, *settings_, stamp.user);
  given_ = ticket_of(stamp, contact->view->joined);
  co_return status_of(stamp.id, *contact->view);
}

VisitorStatus WaitingResource::ask_with_none() { return status_without_place(here()); }

// More time for a called visitor. The form of a page without scripts leads back to the page, which
// shows the result.
Task<Answer> WaitingResource::extend() {
  const Answer told = co_await extend_call();
  if (!http::prefers_html(request_.head.fields)) co_return told;
  response_ = back_to_page(request_.head);
  co_return WaitingReport{};
}

Task<Answer> WaitingResource::extend_call() {
  const std::optional<Token> token = tokens_.find(*room_, services_.now());
  if (!token || token->kind != TokenKind::ticket) co_return not_in_waiting_room();
  const auto asked =
      co_await ask_for_holder(*room_, waiting::Extend{{*token}}, holder(*token), asker());
  if (!asked.result) co_return unanswered(asked.is_limited);
  const auto& extension = *asked.result;
  if (!extension) co_return not_in_waiting_room();
  if (!extension->is_granted)
    co_return waiting_told(409, "Only a called visitor with extensions left gets more time.");
  response_ = status_response({.request = request_,
                               .room = *room_,
                               .settings = *settings_,
                               .status = status_of(token->id, extension->view),
                               .now = services_.now()});
  co_return WaitingReport{};
}

// A waiting visitor goes away, and is called. This requires its token: the id is not enough.
Task<Answer> WaitingResource::reserve() {
  const Answer told = co_await reserve_place(std::nullopt);
  if (!given_ || !http::prefers_html(request_.head.fields)) co_return told;
  response_ = back_to_page(request_.head);
  add_token(response_, *room_, *settings_, *given_, services_.now(), false);
  co_return WaitingReport{};
}

// The webhook gets the user that this request verifies, since the room has no names. Without a user
// nobody could reach the visitor, unless the operator has another way.
Task<Answer> WaitingResource::reserve_place(std::optional<waiting::TicketId> id) {
  const TimePoint now = services_.now();
  const std::optional<Token> token = tokens_.find(*room_, now);
  const auto& reserve = settings_->tickets.reserve;
  const bool is_its_own = token && token->kind == TokenKind::ticket && (!id || token->id == *id);
  if (!reserve || !is_its_own) co_return not_in_waiting_room();
  const traffic::TokenWord word = token_word(request_, *room_, now);
  const traffic::VerifiedUser user = verified_user(request_, word);
  const bool is_its_user = !user.name.empty() && room_->key_of(user) == token->user;
  if (!is_its_user && !reserve->anonymous)
    co_return waiting_told(403, "Only a verified user, who can be reached, is called while away.");
  waiting::Reserve command{{*token}};
  if (is_its_user || (!user.name.empty() && token->user.is_nobody())) {
    const nlohmann::json quoted = std::string(user.name);
    command.user = quoted.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  const auto asked = co_await ask_for_holder(*room_, std::move(command), holder(*token), asker());
  if (!asked.result) co_return unanswered(asked.is_limited);
  const auto& grant = *asked.result;
  if (!grant) co_return not_in_waiting_room();
  if (!grant->view.is_reserved)
    co_return waiting_told(
        409, "Only a waiting visitor may leave and be called; this one is called already.");
  // Signed again: it has to last for as long as the place is kept.
  given_ = *token;
  given_->is_worn = false;
  response_ = status_response({.request = request_,
                               .room = *room_,
                               .settings = *settings_,
                               .status = status_of(token->id, grant->view),
                               .now = services_.now()});
  add_token(response_, *room_, *settings_, *given_, services_.now(), tokens_.is_program());
  co_return WaitingReport{};
}

// A form of another site can send neither the field (Fetch: it is not safelisted) nor the cookie
// (SameSite).
Task<Answer> WaitingResource::leave() {
  if (request_.head.fields.find("Spillway-Leave") == nullptr)
    co_return waiting_told(403, "Leaving takes the field Spillway-Leave: 1.");
  const std::optional<Token> token = tokens_.find(*room_, services_.now());
  if (!token) co_return not_in_waiting_room();
  const auto left =
      co_await ask_for_holder(*room_, waiting::leave_of(*token), holder(*token), asker());
  if (!left.result) co_return unanswered(left.is_limited);
  if (!*left.result && token->kind != TokenKind::stamp) co_return not_in_waiting_room();
  response_ = left_response(*room_, *settings_);
  co_return WaitingReport{};
}

}  // namespace spillway::proxy
