#include "proxy/visitors/entrance.hpp"

#include <algorithm>
#include <utility>

#include "http/field/accept.hpp"
#include "proxy/visitors/room_question.hpp"
#include "proxy/visitors/visit.hpp"
#include "proxy/visitors/visitor_identity.hpp"
#include "proxy/visitors/visitor_wish.hpp"
#include "proxy/visitors/waiting_response.hpp"
#include "proxy/waiting/session_look.hpp"

namespace spillway::proxy {

namespace {

using waiting::Time;
using waiting::Token;
using waiting::TokenKind;
using waiting::WaitingRoom;

// Workers read the clock at different moments.
constexpr Milliseconds kAhead{2'000};
// How often to check whether a session with a resource has ended, so that its responses end, too.
constexpr Milliseconds kLookAtSession{1'000};

}  // namespace

bool Entrance::lets_pass() {
  room_ = request_.generation->waiting_room(request_.classification.route);
  if (room_ == nullptr) return true;
  settings_ = &*request_.config().routes[index(request_.classification.route)].waiting_room;
  if (bypasses()) {
    room_->tally().count_bypass();
    return true;
  }
  token_ = tokens_.find(*room_, services_.now());
  // A token in a cookie is renewed instead, so that copies of it are detected.
  if (token_ && tokens_.is_program() && room_->keeps(*token_, services_.now())) {
    const bool is_pass = token_->kind == TokenKind::pass;
    if (is_pass && token_->is_worn) renew(*token_, token_->generation);
    let_in(token_->id);
    return true;
  }
  if (!token_ || token_->kind != TokenKind::pass || needs_look(*token_)) return false;
  if (hands_out(*settings_) && !has_its_session(*token_)) return false;
  let_in(token_->id);
  return true;
}

Task<std::optional<Answer>> Entrance::enter() {
  if (token_ && token_->kind == TokenKind::pass) {
    const Shown shown = co_await show(*token_);
    if (shown == Shown::inside) co_return std::nullopt;
    if (shown == Shown::limited) co_return limit_joins();
    std::optional<Answer> told =
        shown == Shown::in_line ? tell_late(*token_) : tell_end(token_->id);
    if (told) co_return told;
  }
  const bool has_place = token_ && token_->kind != TokenKind::pass && is_visit(request_.head);
  if (has_place && token_->kind == TokenKind::ticket) {
    std::optional<Answer> told = co_await claim(*token_);
    if (told || inside_) co_return told;
  } else if (has_place && age_of(*token_) <= stamp_life(*settings_)) {
    std::optional<Answer> joined = co_await join(*token_);
    co_return joined;
  }
  std::optional<Answer> arrived = co_await arrive();
  co_return arrived;
}

Task<std::optional<Answer>> Entrance::look_in() {
  if (!token_) co_return std::nullopt;
  if (token_->kind == TokenKind::pass) {
    const Shown shown = co_await show(*token_);
    if (shown == Shown::in_line && is_visit(request_.head)) co_return tell_late(*token_);
  }
  const bool has_place = token_->kind == TokenKind::ticket && is_visit(request_.head);
  if (!has_place) co_return std::nullopt;
  std::optional<Answer> told = co_await claim(*token_);
  co_return told;
}

Milliseconds Entrance::age_of(const Token& token) const {
  return room_->time_at(services_.now()) - token.time;
}

bool Entrance::bypasses() {
  const traffic::Classifier& classifier = request_.generation->generation().classifier;
  if (classifier.tiers_bypass(request_.classification.route))
    word_ = token_word(request_, *room_, services_.now());
  return classifier.bypasses_waiting_room(request_.head, request_.client.peer,
                                          request_.classification,
                                          word_.value_or(traffic::TokenWord{}));
}

// The last use of a session has to be reported before the session is idle.
Milliseconds Entrance::renew_after() const {
  return std::min(waiting::kRenewAfter, settings_->sessions.idle / 4);
}

// Another visitor may have a session's resource as soon as it has ended, so always look it up.
bool Entrance::has_its_session(const Token& pass) {
  return room_->with(services_.now(),
                     [&](WaitingRoom& room, Time now) { return goes_on(room, pass.id, now); });
}

// Usually the pass alone proves that its visitor was let in, and when. If its time is in the
// future, the clock was set back.
bool Entrance::needs_look(const Token& pass) const {
  const Milliseconds age = age_of(pass);
  return pass.generation == 0 || age >= renew_after() || age < -kAhead;
}

Task<Entrance::Shown> Entrance::show(Token pass) {
  // Its first pass came late before, and it waits: no row is written for that.
  if (pass.generation == 0 && room_->is_shared() && room_->look_at_ticket(pass.id, services_.now()))
    co_return Shown::in_line;
  waiting::ShowPass shows{{pass}};
  shows.may_join = room_->takes_ticket(pass, services_.now());
  if (shows.may_join) {
    const Reason refused = judge_late(pass);
    if (refused == Reason::work_required) co_return Shown::over;
    if (refused != Reason::none) co_return Shown::limited;
  }
  const auto shown = co_await ask_for_holder(*room_, shows, holder(pass), asker());
  if (shows.may_join) {
    const bool has_joined = shown.result && shown.result->use == WaitingRoom::Use::waits;
    note_late(pass, has_joined);
  }
  if (!shown.result) {
    if (!room_->honours(pass, services_.now()))
      co_return may_come_late(pass) ? Shown::in_line : Shown::over;
  } else {
    switch (shown.result->use) {
      case WaitingRoom::Use::renewed:
        renew(pass, shown.result->generation, shown.result->age);
        break;
      case WaitingRoom::Use::kept: break;
      case WaitingRoom::Use::waits:
      case WaitingRoom::Use::held: co_return Shown::in_line;
      case WaitingRoom::Use::late: co_return Shown::limited;
      case WaitingRoom::Use::over:
      case WaitingRoom::Use::copied: co_return Shown::over;
    }
  }
  let_in(pass.id);
  co_return Shown::inside;
}

// A first pass that comes late makes a ticket, so the limits of a second contact apply. A proof of
// work cannot be requested here: if one is required the visitor arrives again.
Reason Entrance::judge_late(const Token& pass) {
  if (challenge_of(*settings_, pass)) return Reason::work_required;
  const IpAddress client = client_address(request_);
  if (!room_->may_join(client, *settings_, services_.now())) return Reason::join_limit;
  if (room_->may_have_more(client, pass, *settings_, services_.now())) return Reason::none;
  room_->did_not_join(client, *settings_);
  return Reason::join_limit;
}

void Entrance::note_late(const Token& pass, bool has_joined) {
  const IpAddress client = client_address(request_);
  if (has_joined)
    room_->has_joined(client, pass, services_.now());
  else
    room_->did_not_join(client, *settings_);
}

// Whether it is a first pass that is good for a place, once that can be stored.
bool Entrance::may_come_late(const Token& pass) {
  return pass.generation == 0 && room_->with(services_.now(), [&](WaitingRoom& room, Time now) {
    return room.may_be_inside(pass.id, 0, pass.time, now);
  });
}

// Informs a visitor that was inside that its place may be taken by now. A request that is no visit,
// such as a form, keeps its pass: sent again once the ticket is called, it goes on.
Answer Entrance::tell_late(const Token& pass) {
  const auto view =
      room_->with(services_.now(), [&](WaitingRoom& room, Time) { return room.peek(pass.id); });
  if (!is_visit(request_.head))
    return waiting_room_open(view ? view->poll : stamp_poll(*settings_));
  if (!view) return tell_again(std::nullopt);
  return tell(status_of(pass.id, *view),
              waiting::ticket_of_pass(pass, view->joined, view->priority));
}

// The holder of a ticket requests the route itself. nullopt: it enters, or the place has ended and
// there is nothing to report.
Task<std::optional<Answer>> Entrance::claim(Token ticket) {
  std::optional<WaitingRoom::View> view;
  bool has_ended = false;
  if (room_->is_shared()) {
    // A row is only needed if the ticket enters: none while it waits, or after its end.
    view = room_->look_at_ticket(ticket.id, services_.now());
    has_ended = room_->with(services_.now(), [&](WaitingRoom& room, Time now) {
      return room.end_of(ticket.id, now).has_value();
    });
  }
  if (!view && !has_ended) {
    const auto asked =
        co_await ask_for_holder(*room_, waiting::Claim{{ticket}}, holder(ticket), asker());
    const auto& claimed = asked.result;
    if (claimed && claimed->session) {
      claimed_ = ticket.id;
      renew(ticket, claimed->session->generation);
      let_in(ticket.id);
      co_return std::nullopt;
    }
    view = claimed ? claimed->view : room_->last_seen(ticket.id, services_.now());
    if (!claimed && !view) co_return tell_again(std::nullopt);
  }
  if (view) co_return tell(status_of(ticket.id, *view), waiting::renewal_of(ticket));
  co_return tell_end(ticket.id);
}

// The browser's token is for a place that ended lately: the page says why, and only once, since it
// also deletes the cookie. nullopt: there is nothing to report, or no visitor has to wait, and this
// one arrives again. So does a program without cookies, which would get the page every time.
std::optional<Answer> Entrance::tell_end(const waiting::TicketId& id) {
  const bool sees = is_visit(request_.head) && http::prefers_html(request_.head.fields);
  if (!sees || tokens_.is_in_field()) return std::nullopt;
  const auto end = room_->with(services_.now(), [&](WaitingRoom& room, Time now) {
    const bool goes_on = room.has_to_wait(now) && !room.orders().has_ended;
    return goes_on ? room.end_of(id, now) : std::nullopt;
  });
  if (!end) return std::nullopt;
  VisitorStatus status = status_of(id, *end);
  status.poll = settings_->page.poll.max;
  Answer told = tell(status, std::nullopt);
  take_token(response_, *room_, *settings_);
  return told;
}

void Entrance::let_in(const waiting::TicketId& id) {
  inside_ = id;
  const waiting::Carrier carrier = first_pass_ ? first_pass_->carrier : token_->carrier;
  const bool goes_first = room_->may_go_first(id, carrier, *settings_, services_.now());
  if (goes_first && !request_.classification.may_be_anothers()) {
    request_.generation->generation().classifier.set_class(
        request_.classification, settings_->sessions.traffic_class.value_or(ClassId{}),
        request_.arrived);
  }
  const Milliseconds every =
      hands_out(*settings_) ? std::min(renew_after(), kLookAtSession) : renew_after();
  stay_ = Stay(*room_, id, every, services_.now());
  if (first_pass_) stay_ = stay_.begun_with(*first_pass_);
  TextWriter out(pass_);
  out << "room=" << room_->name() << "; id=" << to_text(id);
  if (hands_out(*settings_)) {
    const std::string resource =
        room_->with(services_.now(), [&](WaitingRoom& room, Time) { return room.resource_of(id); });
    if (!resource.empty()) out << "; resource=" << resource;
  }
  if (!out.overflowed()) request_.pass = {pass_.data(), out.size()};
}

Task<> Entrance::end_session(VisitorSessionEnd how) {
  if (how == VisitorSessionEnd::over) return leave();
  return go_back();
}

// If the log does not answer, the session lasts until it is idle.
Task<> Entrance::leave() {
  waiting::Cancel leave{.id = *std::exchange(inside_, std::nullopt)};
  if (first_pass_) leave.issued = first_pass_->time;
  const std::optional<bool> was_here = co_await ask_room(*room_, leave, asker());
  if (!was_here) co_return;
  TextWriter out(pass_lines_);
  write_token_end(out, *room_, *settings_);
  request_.pass_lines = {pass_lines_.data(), out.size()};
  stay_ = {};
}

Task<> Entrance::go_back() {
  const waiting::GoBack back{*std::exchange(claimed_, std::nullopt)};
  const std::optional<bool> is_back = co_await ask_room(*room_, back, asker());
  if (!is_back.value_or(false)) co_return;
  request_.pass_lines = {};
  stay_ = {};
}

Stay Entrance::lasting_stay() const {
  if (room_ == nullptr) return {};
  const Generation& generation = request_.generation->generation();
  return stay_.kept_by(generation.waiting_rooms[index(request_.classification.route)]);
}

void Entrance::renew(const Token& of, std::uint32_t generation, Milliseconds age) {
  give(pass_of(of, generation, room_->time_at(services_.now()) - age));
}

void Entrance::give(const Token& pass) {
  TextWriter out(pass_lines_);
  write_token(out, *room_, *settings_, pass, services_.now(), tokens_.is_program());
  if (!out.overflowed()) request_.pass_lines = {pass_lines_.data(), out.size()};
}

Answer Entrance::tell(const VisitorStatus& status, std::optional<Token> token) {
  const TimePoint now = services_.now();
  const bool is_offered = token && status.state == VisitorStatus::State::offered;
  const waiting::TokenText offer =
      is_offered ? room_->sign(waiting::offer_of(*token), now) : waiting::TokenText();
  response_ = waiting_response({.request = request_,
                                .room = *room_,
                                .settings = *settings_,
                                .status = status,
                                .now = now,
                                .request_id = request_.id(services_.random),
                                .as_page = http::prefers_html(request_.head.fields),
                                .offer = {offer.data(), offer.size()}});
  if (token) add_token(response_, *room_, *settings_, *token, now, tokens_.is_program());
  return WaitingPage{};
}

}  // namespace spillway::proxy
