// Tickets of a waiting room for programs: rooms/NAME/tickets and rooms/NAME/tickets/ID.
//
// Joining takes two contacts as for a visitor: nothing is stored at the first, which is answered
// with a signed stamp of its arrival, so that a flood of clients that keep nothing makes no ticket.
// The id in the URL is enough to look; a contact or a cancellation needs the signed token.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "http/field/ascii.hpp"
#include "http/field/query.hpp"
#include "proxy/visitors/visit.hpp"
#include "proxy/visitors/visitor_identity.hpp"
#include "proxy/visitors/visitor_wish.hpp"
#include "proxy/visitors/waiting_resource.hpp"
#include "proxy/visitors/waiting_response.hpp"

namespace spillway::proxy {

namespace {

using waiting::Time;
using waiting::Token;
using waiting::TokenKind;
using waiting::WaitingRoom;

constexpr std::uint64_t kMostWish = 1024;  // bytes of a body
constexpr std::size_t kMostReason = 200;   // bytes
constexpr std::string_view kReserve = "/reserve";

bool is_json(const http::RequestHead& head) {
  const http::Field* const type = head.fields.find("Content-Type");
  if (type == nullptr) return false;
  const std::string_view media = std::string_view(type->value).substr(0, type->value.find(';'));
  return http::iequals(http::trim(media), "application/json");
}

std::string_view query_of(const http::RequestHead& head) {
  const std::string_view target = head.path_and_query;
  const std::size_t mark = target.find('?');
  return mark == std::string_view::npos ? std::string_view{} : target.substr(mark + 1);
}

// nullopt: the query has something else, or a reason that is too long.
std::optional<std::string> reason_in(std::string_view query) {
  const auto read = http::read_query(query);
  const auto* const parameters = std::get_if<http::Parameters>(&read);
  if (parameters == nullptr || parameters->size() > 1) return std::nullopt;
  if (parameters->empty()) return std::string();
  const http::Parameter& only = parameters->front();
  if (only.name != "reason" || only.value.size() > kMostReason) return std::nullopt;
  return only.value;
}

}  // namespace

Task<Answer> WaitingResource::answer_tickets(std::string_view part) {
  const http::Verb method = request_.head.method;
  if (part.empty()) {
    if (method != http::Verb::post) co_return wrong_method("POST");
    const Answer joined = co_await join();
    co_return joined;
  }
  const bool reserves = part.ends_with(kReserve);
  if (reserves) part.remove_suffix(kReserve.size());
  const auto id = part.empty() ? std::nullopt : waiting::parse_ticket_id(part.substr(1));
  if (!id) co_return not_in_waiting_room();
  if (reserves) {
    if (method != http::Verb::post) co_return wrong_method("POST");
    if (is_of_another_origin(request_.head, request_.client.trusted()))
      co_return waiting_told(403, "A page of another origin makes no reservation.");
    const Answer reserved = co_await reserve_place(id);
    co_return reserved;
  }
  if (method == http::Verb::delete_) {
    const Answer cancelled = co_await cancel_ticket(*id);
    co_return cancelled;
  }
  const bool is_read = method == http::Verb::get || method == http::Verb::head;
  if (!is_read) co_return wrong_method("GET, HEAD, DELETE");
  const Answer shown = co_await show_ticket(*id);
  co_return shown;
}

// Reads the program's requirement into `wanted_`. Requires a field that no form of another site can
// send (Fetch: it is not safelisted), or a page elsewhere could join for its visitors.
Task<std::optional<Answer>> WaitingResource::read_wish() {
  if (request_.head.fields.find("Spillway-Join") == nullptr)
    co_return waiting_told(403, "Joining takes the field Spillway-Join: 1.");
  if (!query_of(request_.head).empty()) co_return waiting_told(400, "Joining takes no parameters.");
  std::string wish;
  if (body_.has_any()) {
    const std::optional<Fault> unread = co_await body_.read_small(wish, kMostWish);
    if (unread) co_return *unread;
  }
  if (!wish.empty()) {
    if (!is_json(request_.head))
      co_return waiting_told(415, "The body must be application/json, or empty.");
    auto read = read_ask(wish);
    if (const auto* const wrong = std::get_if<std::string>(&read)) {
      response_ = malformed_ask(*wrong);
      co_return WaitingReport{};
    }
    wanted_ = std::get<waiting::Ask>(std::move(read));
  }
  co_return std::nullopt;
}

// Refuses a requirement that no resource could ever meet.
std::optional<Answer> WaitingResource::refuse_wish(const waiting::Ask& ask) {
  const Understood understood = understand(*room_, ask, services_.now());
  const auto* const unmet = std::get_if<waiting::Unmet>(&understood);
  if (unmet == nullptr) return std::nullopt;
  response_ = unmet_response(*unmet);
  return WaitingReport{};
}

Task<Answer> WaitingResource::join() {
  std::optional<Answer> refused = co_await read_wish();
  if (refused) co_return *std::move(refused);
  const std::optional<Token> token = tokens_.find(*room_, services_.now());
  bool has_some = token && (token->kind != TokenKind::pass || has_session(*token));
  // An empty body: the stamp's requirement applies, if it has one.
  if (token && token->kind == TokenKind::stamp && wanted_ == waiting::Ask{}) {
    auto carried = ask_of(*room_, *token, services_.now());
    has_some = carried.has_value();
    wanted_ = std::move(carried).value_or(waiting::Ask{});
  }
  if (!has_some || token->kind == TokenKind::stamp) {
    refused = refuse_wish(wanted_);
    if (refused) co_return *std::move(refused);
  }
  if (has_some) {
    const bool has_more = token->kind != TokenKind::stamp;
    VisitorStatus told = co_await ask_for_place(*token);
    const bool is_over = told.end.has_value();
    if (told.limit != Reason::none) co_return refuse_visit(told);
    if (told.is_unknown) co_return rooms_unavailable();
    using State = VisitorStatus::State;
    const bool is_new = is_over || told.state == State::arrived || told.state == State::closed;
    told.end.reset();
    if (told.state == State::ended || !is_new) co_return tell_joined(has_more ? 200 : 201, told);
    refused = refuse_wish(wanted_);
    if (refused) co_return *std::move(refused);
  }
  const Answer noted = co_await note_arrival();
  co_return noted;
}

Task<VisitorStatus> WaitingResource::ask_for_place(Token token) {
  if (token.kind == TokenKind::stamp) return take_place(token, wanted_, tokens_.work());
  return ask();
}

// The session of a provisional entry begins with the next use of its pass.
bool WaitingResource::has_session(const Token& pass) {
  if (pass.generation == 0) return true;
  return room_->with(services_.now(), [&](WaitingRoom& room, Time time) {
    return room.inspect(pass.id, time).has_value();
  });
}

// The second contact. While visitors do not have to wait, it begins a session at once. An offer may
// be taken after a stamp's usual life; then the time of this request decides the place.
Task<VisitorStatus> WaitingResource::take_place(Token stamp, waiting::Ask ask,
                                                std::string_view work) {
  const TimePoint now = services_.now();
  const std::optional<Token> arrival =
      waiting::arrival_of(stamp, room_->time_at(now), stamp_life(*settings_));
  if (!arrival) co_return VisitorStatus{};
  const Joiner joiner{client_address(request_), work};
  const Joining joining = co_await ask_to_join(*room_, *arrival, ask, joiner, *settings_, asker());
  if (joining.refused != Reason::none) co_return status_of(joining.refused, stamp_poll(*settings_));
  const auto& contact = joining.contact;
  if (!contact) co_return VisitorStatus{.poll = stamp_poll(*settings_), .is_unknown = true};
  auto view = contact->view;
  if (contact->session) {
    view =
        room_->with(services_.now(), [&](WaitingRoom& room, Time) { return room.peek(stamp.id); });
  }
  if (contact->door == WaitingRoom::Door::unmet) co_return VisitorStatus{};
  if (!view) co_return turned_away(contact->door, *room_, *settings_, stamp.user);
  given_ = ticket_of(stamp, view->joined);
  given_->wish = wish_of(*room_, ask, services_.now());
  co_return status_of(stamp.id, *view);
}

Task<Answer> WaitingResource::note_arrival() {
  const TimePoint now = services_.now();
  const traffic::TokenWord word = token_word(request_, *room_, now);
  const waiting::Arrive arrival{.priority = visitor_tier(request_, *settings_, word),
                                .user = visitor_user(request_, *room_, word),
                                .wants_ticket = true};
  const auto arrived = co_await ask_to_arrive(*room_, arrival, asker());
  if (!arrived) co_return rooms_unavailable();
  if (arrived->door != WaitingRoom::Door::wait)
    co_return tell_joined(0, turned_away(arrived->door, *room_, *settings_, arrival.user));
  const std::optional<waiting::TicketId> id = new_ticket_id();
  if (!id) co_return waiting_room_open(settings_->page.poll.max);
  given_ = Token{TokenKind::stamp,
                 *id,
                 0,
                 room_->time_at(now),
                 arrival.priority,
                 arrival.user,
                 wish_of(*room_, wanted_, now)};
  given_->carrier = tokens_.first_carrier();
  co_return tell_joined(202, {.state = VisitorStatus::State::arrived,
                              .poll = Milliseconds(1000),
                              .challenge = challenge_of(*settings_, *given_)});
}

// `made`: the status code, unless it is turned away.
Answer WaitingResource::tell_joined(unsigned made, const VisitorStatus& told) {
  const TimePoint now = services_.now();
  const WaitingFacts facts{.request = request_,
                           .room = *room_,
                           .settings = *settings_,
                           .status = told,
                           .now = now,
                           .request_id = request_.id(services_.random)};
  const std::string path = room_path(request_.config(), *room_);
  const std::string ticket = told.id ? path + "/tickets/" + to_text(*told.id) : path + "/tickets";
  using State = VisitorStatus::State;
  const bool is_elsewhere = told.state == State::elsewhere;
  if (is_elsewhere || (!told.id && told.state != State::arrived)) {
    const unsigned status = is_elsewhere || told.state == State::ended ? 409 : 503;
    response_ = status_response(facts, problem_members(facts, status));
    if (told.id) response_.lines += "Link: <" + ticket + ">; rel=\"status\"\r\n";
    response_.status = status;
    const std::string_view json = "application/json";
    response_.lines.replace(response_.lines.find(json), json.size(), "application/problem+json");
    return WaitingReport{};
  }
  std::string more;
  if (given_ && tokens_.is_program()) {
    const waiting::TokenText text = room_->sign(*given_, now);
    more = "\"token\":\"" + std::string(text.data(), text.size()) + "\",";
  }
  response_ = status_response(facts, more);
  response_.status = made;
  if (made == 201) response_.lines += "Location: " + ticket + "\r\n";
  response_.lines +=
      "Link: <" + (told.id ? ticket + ">; rel=\"status\"\r\n" : ticket + ">; rel=\"next\"\r\n");
  if (given_) add_token(response_, *room_, *settings_, *given_, now, tokens_.is_program());
  return WaitingReport{};
}

Task<Answer> WaitingResource::show_ticket(waiting::TicketId id) {
  const TimePoint now = services_.now();
  const std::optional<Token> token = tokens_.find(*room_, now);
  VisitorStatus told;
  if (token && token->kind != TokenKind::stamp && token->id == id) {
    VisitorStatus asked = co_await ask();
    told = std::move(asked);
    // The state of the ticket, not whether its visitor has to wait.
    if (told.end && told.state == VisitorStatus::State::closed) told = status_of(id, *told.end);
  } else {
    told = look_at(id);
  }
  if (told.limit != Reason::none) co_return too_many_visits(told.limit, told.poll);
  if (!told.id && told.state != VisitorStatus::State::ended) co_return not_in_waiting_room();
  response_ = status_response(
      {.request = request_, .room = *room_, .settings = *settings_, .status = told, .now = now});
  if (given_) add_token(response_, *room_, *settings_, *given_, now, tokens_.is_program());
  co_return WaitingReport{};
}

// A look is no contact: the status has no time for the next poll. Without an id: unknown.
VisitorStatus WaitingResource::look_at(const waiting::TicketId& id) {
  return room_->with(services_.now(), [&](WaitingRoom& room, Time time) -> VisitorStatus {
    if (const auto report = room.inspect(id, time)) {
      VisitorStatus told = status_of(id, report->view);
      told.poll = Milliseconds(0);
      return told;
    }
    const auto end = room.end_of(id, time);
    return end ? status_of(id, *end) : VisitorStatus{};
  });
}

Task<Answer> WaitingResource::cancel_ticket(waiting::TicketId id) {
  const auto reason = reason_in(query_of(request_.head));
  if (!reason) co_return waiting_told(400, "One parameter is known: reason, of at most 200 bytes.");
  const TimePoint now = services_.now();
  const std::optional<Token> token = tokens_.find(*room_, now);
  const bool is_its_own = token && token->kind != TokenKind::stamp && token->id == id;
  if (!is_its_own) co_return not_in_waiting_room();
  if (token->kind == TokenKind::ticket) {
    room_->with(now, [&](WaitingRoom& room, Time time) {
      room.recover(id, token->time, time, token->priority, token->user, token->wish);
    });
  }
  const auto left =
      co_await ask_for_holder(*room_, waiting::leave_of(*token), holder(*token), asker());
  if (!left.result) co_return unanswered(left.is_limited);
  if (!*left.result) co_return not_in_waiting_room();
  if (!reason->empty()) services_.log.ticket_cancelled(room_->name(), to_text(id), *reason);
  response_ = left_response(*room_, *settings_);
  co_return WaitingReport{};
}

}  // namespace spillway::proxy
