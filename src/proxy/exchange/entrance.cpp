#include "proxy/exchange/entrance.hpp"

#include <algorithm>
#include <utility>

#include "http/accept.hpp"
#include "http/ascii.hpp"
#include "proxy/exchange/room_question.hpp"
#include "proxy/exchange/visit.hpp"
#include "proxy/exchange/visitor_identity.hpp"
#include "proxy/exchange/visitor_wish.hpp"
#include "proxy/exchange/waiting_response.hpp"
#include "proxy/waiting/session_look.hpp"

namespace spillway::proxy {

namespace {

using waiting::Time;
using waiting::Token;
using waiting::TokenKind;
using waiting::WaitingRoom;

// Workers read the clock at different moments.
constexpr Milliseconds kAhead{2'000};
// How often what a session has opened is ended with it, where it has a resource.
constexpr Milliseconds kLookAtSession{1'000};

// What the upstream says of the visitor's session.
bool says(const http::ResponseHead& response, std::string_view word) {
  const http::Field* const field = response.fields.find("Spillway-Session");
  return field != nullptr && http::iequals(field->value, word);
}

}  // namespace

bool Entrance::lets_by() {
  room_ = request_.generation->waiting_room(request_.subject.route);
  if (room_ == nullptr) return true;
  settings_ = &*request_.config().routes[index(request_.subject.route)].waiting_room;
  if (bypasses()) {
    room_->count_bypass();
    return true;
  }
  token_ = tokens_.find(*room_, services_.now());
  // A token in a cookie is renewed instead, so that copies of it are found.
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
    const bool goes_on = co_await show(*token_);
    if (goes_on) co_return std::nullopt;
    std::optional<Answer> over = tell_end(token_->id);
    if (over) co_return over;
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
  if (token_->kind == TokenKind::pass) co_await show(*token_);
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
  if (classifier.tiers_bypass(request_.subject.route))
    word_ = token_word(request_, *room_, services_.now());
  return classifier.bypasses_waiting_room(request_.head, request_.client.peer, request_.subject,
                                          word_.value_or(traffic::TokenWord{}));
}

// The session's last use is to be known before it is idle.
Milliseconds Entrance::renew_after() const {
  return std::min(waiting::kRenewAfter, settings_->sessions.idle / 4);
}

// What a session has is another's as soon as it has ended, so it is looked up each time.
bool Entrance::has_its_session(const Token& pass) {
  return room_->with(services_.now(),
                     [&](WaitingRoom& room, Time now) { return goes_on(room, pass.id, now); });
}

// Mostly a pass itself says that its visitor was let in, and when. If its time is in the future,
// the clock was set back.
bool Entrance::needs_look(const Token& pass) const {
  const Milliseconds age = age_of(pass);
  return pass.generation == 0 || age >= renew_after() || age < -kAhead;
}

// Whether it is good.
Task<bool> Entrance::show(Token pass) {
  const auto renewal = co_await ask_room(*room_, waiting::ShowPass{{pass}}, asker());
  if (!renewal && !room_->honours(pass, services_.now())) co_return false;
  if (renewal) {
    switch (renewal->use) {
      case WaitingRoom::Use::renewed: renew(pass, renewal->generation); break;
      case WaitingRoom::Use::kept: break;
      case WaitingRoom::Use::waits:
      case WaitingRoom::Use::over:
      case WaitingRoom::Use::copied: co_return false;
    }
  }
  let_in(pass.id);
  co_return true;
}

// The holder of a ticket asks for the route itself. nullopt: it comes in, or the place has ended
// and there is nothing to tell.
Task<std::optional<Answer>> Entrance::claim(Token ticket) {
  std::optional<WaitingRoom::View> view;
  bool has_ended = false;
  if (room_->is_shared()) {
    // What is written for a ticket is that it enters: nothing while it waits, or after its end.
    view = room_->look_at_ticket(ticket.id, services_.now());
    has_ended = room_->with(services_.now(), [&](WaitingRoom& room, Time now) {
      return room.end_of(ticket.id, now).has_value();
    });
  }
  if (!view && !has_ended) {
    const auto claimed = co_await ask_room(*room_, waiting::Claim{{ticket}}, asker());
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

// What a browser carries is of a place that has ended lately: the page tells why, once, since it
// takes the cookie along. nullopt: there is nothing to tell, or nobody has to wait; the visitor
// arrives anew. So does a program without cookies, which would be told again and again.
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

// The second contact: from now on it has a place, by its arrival. Where places are offered it has
// none before it takes one.
Task<std::optional<Answer>> Entrance::join(Token stamp) {
  const auto carried = ask_of(*room_, stamp, services_.now());
  if (!carried) {
    std::optional<Answer> arrived = co_await arrive();
    co_return arrived;
  }
  if (offers_places(*settings_)) {
    const auto offered = co_await ask_for_offer(*room_, stamp, asker());
    if (!offered) co_return tell_again(stamp);
    co_return go_on(*offered, stamp);
  }
  waiting::Ask ask;
  if (hands_out(*settings_)) {
    // The link may say something else by now.
    auto asked = ask_in_link(request_.head.path_and_query);
    if (const auto* const wrong = std::get_if<std::string>(&asked))
      co_return refuse(malformed_ask(*wrong));
    ask = std::get<waiting::Ask>(std::move(asked));
    if (ask == waiting::Ask{}) ask = *carried;
    const Understood understood = understand(*room_, ask, services_.now());
    if (const auto* const unmet = std::get_if<waiting::Unmet>(&understood))
      co_return refuse(unmet_response(*unmet));
    stamp.wish = std::get<std::optional<waiting::CarriedWish>>(understood);
  }
  const auto arrival =
      waiting::arrival_of(stamp, room_->time_at(services_.now()), stamp_life(*settings_));
  const Joiner joiner{client_address(request_), tokens_.work()};
  const Joining joining =
      co_await ask_to_join(*room_, arrival.value_or(stamp), ask, joiner, *settings_, asker());
  if (joining.refused == Reason::join_limit) co_return limit_joins();
  if (joining.refused == Reason::work_required) {
    std::optional<Answer> arrived = co_await arrive(true);
    co_return arrived;
  }
  if (!joining.contact || joining.contact->door == WaitingRoom::Door::unmet)
    co_return tell_again(stamp);
  co_return go_on(*joining.contact, stamp);
}

// Whether the visitor has a place is not known now: it asks again with the token it has.
Answer Entrance::tell_again(std::optional<Token> token) {
  if (token && token->kind == TokenKind::stamp) return tell_stamped(*token);
  return tell({.poll = stamp_poll(*settings_)}, std::nullopt);
}

std::optional<Answer> Entrance::go_on(const WaitingRoom::Contact& contact, const Token& stamp) {
  if (contact.session) {
    renew(stamp, contact.session->generation);
    let_in(stamp.id);
    return std::nullopt;
  }
  if (contact.view)
    return tell(status_of(stamp.id, *contact.view), ticket_of(stamp, contact.view->joined));
  if (contact.door == WaitingRoom::Door::wait) return tell_stamped(stamp);
  return turn_away(contact.door, stamp.user);
}

// A page goes on by itself.
Answer Entrance::limit_joins() {
  const Milliseconds later = stamp_poll(*settings_);
  reason_ = Reason::join_limit;
  if (!http::prefers_html(request_.head.fields)) return too_many_visits(reason_, later);
  return tell(status_of(reason_, later), std::nullopt);
}

// The first contact; the proxy stores nothing for it. `lacks_work`: the visitor has a stamp and has
// not sent the proof of work for it.
Task<std::optional<Answer>> Entrance::arrive(bool lacks_work) {
  const TimePoint now = services_.now();
  if (!is_visit(request_.head)) {
    const bool is_open =
        room_->with(now, [](WaitingRoom& room, Time time) { return room.has_to_wait(time); });
    if (!is_open) co_return std::nullopt;
    co_return waiting_room_open(settings_->page.poll.max);
  }
  std::optional<waiting::CarriedWish> wish;
  if (hands_out(*settings_)) {
    const auto asked = ask_in_link(request_.head.path_and_query);
    if (const auto* const wrong = std::get_if<std::string>(&asked))
      co_return refuse(malformed_ask(*wrong));
    waiting::Ask ask = std::get<waiting::Ask>(asked);
    if (lacks_work && ask == waiting::Ask{}) ask = ask_of(*room_, *token_, now).value_or(ask);
    const Understood understood = understand(*room_, ask, now);
    if (const auto* const unmet = std::get_if<waiting::Unmet>(&understood))
      co_return refuse(unmet_response(*unmet));
    wish = std::get<std::optional<waiting::CarriedWish>>(understood);
  }
  if (!word_) word_ = token_word(request_, *room_, now);
  const waiting::Arrive arrival{.priority = visitor_tier(request_, *settings_, *word_),
                                .user = visitor_user(request_, *room_, *word_)};
  const auto door = co_await ask_to_arrive(*room_, arrival, asker());
  const bool enters = door == WaitingRoom::Door::enter;
  const bool waits = !door || door == WaitingRoom::Door::wait;
  if (!enters && !waits) co_return turn_away(*door, arrival.user);
  if (waits && lacks_work && !http::prefers_html(request_.head.fields)) co_return work_required();
  const bool is_kept = waits && lacks_work && outlasts_a_page(*token_);
  const std::optional<waiting::TicketId> id = is_kept ? token_->id : new_ticket_id();
  if (!id) co_return waiting_room_open(settings_->page.poll.max);
  const waiting::Time arrived = is_kept ? token_->time : room_->time_at(now);
  Token stamp{TokenKind::stamp, *id, 0, arrived, arrival.priority, arrival.user, wish};
  stamp.carrier = is_kept ? token_->carrier : tokens_.first_carrier();
  if (enters) {
    renew(stamp, 0);
    let_in(*id);
    co_return std::nullopt;
  }
  if (offers_places(*settings_)) room_->count_offer();
  co_return tell_stamped(stamp);
}

// A stamp for which work is to be done is kept, since another tab may be at it; not shortly before
// its end.
bool Entrance::outlasts_a_page(const Token& stamp) const {
  return age_of(stamp) <= waiting::kWorkLife - waiting::kStampLife;
}

// What it asks for is not understood, or nothing could ever meet it.
Answer Entrance::refuse(OwnResponse refusal) {
  response_ = std::move(refusal);
  return WaitingPage{};
}

// It has no place yet.
Answer Entrance::tell_stamped(const Token& stamp) {
  using State = VisitorStatus::State;
  const State state = offers_places(*settings_) ? State::offered : State::arrived;
  return tell({.state = state,
               .poll = stamp_poll(*settings_),
               .challenge = challenge_of(*settings_, stamp)},
              stamp);
}

Answer Entrance::turn_away(WaitingRoom::Door door, const waiting::UserKey& user) {
  return tell(turned_away(door, *room_, *settings_, user), std::nullopt);
}

void Entrance::let_in(const waiting::TicketId& id) {
  inside_ = id;
  if (room_->may_go_first(id, *settings_, services_.now())) {
    request_.generation->generation().classifier.set_class(
        request_.subject, settings_->sessions.traffic_class.value_or(ClassId{}), request_.arrived);
  }
  const Milliseconds every =
      hands_out(*settings_) ? std::min(renew_after(), kLookAtSession) : renew_after();
  stay_ = Stay(*room_, id, every, services_.now());
  TextWriter out(pass_);
  out << "room=" << room_->name() << "; id=" << to_text(id);
  if (hands_out(*settings_)) {
    const std::string resource =
        room_->with(services_.now(), [&](WaitingRoom& room, Time) { return room.resource_of(id); });
    if (!resource.empty()) out << "; resource=" << resource;
  }
  if (!out.overflowed()) request_.pass = {pass_.data(), out.size()};
}

bool Entrance::has_failed(unsigned status, const http::ResponseHead* response) const {
  return claimed_ && (status >= 500 || (response != nullptr && says(*response, "refused")));
}

bool Entrance::is_over(const http::ResponseHead& response) const {
  return inside_ && says(response, "end");
}

// If the store does not know of it, the session lasts until it is idle.
Task<> Entrance::end_session() {
  const waiting::Cancel leave{.id = *std::exchange(inside_, std::nullopt), .issued = first_pass_};
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
  return stay_.kept_by(generation.waiting_rooms[index(request_.subject.route)]);
}

void Entrance::renew(const Token& of, std::uint32_t generation) {
  const TimePoint now = services_.now();
  const waiting::Time issued = room_->time_at(now);
  if (generation == 0) first_pass_ = issued;
  TextWriter out(pass_lines_);
  write_token(out, *room_, *settings_, pass_of(of, generation, issued), now, tokens_.is_program());
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
                                .as_page = http::prefers_html(request_.head.fields),
                                .offer = {offer.data(), offer.size()}});
  if (token) add_token(response_, *room_, *settings_, *token, now, tokens_.is_program());
  return WaitingPage{};
}

}  // namespace spillway::proxy
