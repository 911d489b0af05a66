// How a visitor gets a place at the entrance: its first and its second contact.
#include <utility>

#include "http/field/accept.hpp"
#include "proxy/visitors/entrance.hpp"
#include "proxy/visitors/visit.hpp"
#include "proxy/visitors/visitor_identity.hpp"
#include "proxy/visitors/visitor_wish.hpp"
#include "proxy/visitors/waiting_response.hpp"

namespace spillway::proxy {

using waiting::Time;
using waiting::Token;
using waiting::TokenKind;
using waiting::WaitingRoom;

// The second contact: from now on the visitor has a place, by its arrival. If places are offered it
// has none before it takes one.
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
    // The link may ask for something else by now.
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

// It is not known now whether the visitor has a place: it asks again with the token that it has.
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

// A page polls by itself. The visitor's token is still valid.
Answer Entrance::limit_joins() {
  const Milliseconds later = stamp_poll(*settings_);
  reason_ = Reason::join_limit;
  const bool is_page = is_visit(request_.head) && http::prefers_html(request_.head.fields);
  if (!is_page) return too_many_visits(reason_, later);
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
  std::optional<waiting::Arrived> told = waiting::Arrived{WaitingRoom::Door::wait};
  if (!comes_twice(arrival)) {
    const auto asked = co_await ask_to_arrive(*room_, arrival, asker());
    told = asked;
  }
  const auto door = told ? std::optional(told->door) : std::nullopt;
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
    first_pass_ = waiting::pass_of(stamp, 0, told->at);
    give(*first_pass_);
    let_in(*id);
    co_return std::nullopt;
  }
  if (offers_places(*settings_)) room_->tally().count_offer();
  co_return tell_stamped(stamp);
}

// Whether a visitor gets a stamp although none has to wait: a client that keeps no tokens could
// collect first passes, which hold places for a slice. With the stamp it enters at once.
bool Entrance::comes_twice(const waiting::Arrive& arrival) {
  const TimePoint now = services_.now();
  if (!arrival.user.is_nobody()) return false;
  const bool is_open =
      room_->with(now, [](WaitingRoom& room, Time time) { return room.has_to_wait(time); });
  return !is_open && !room_->may_enter_at_once(client_address(request_), *settings_, now);
}

// A stamp is reused for a proof of work, since another tab may be working on it; but not shortly
// before the stamp expires.
bool Entrance::outlasts_a_page(const Token& stamp) const {
  return age_of(stamp) <= waiting::kWorkLife - waiting::kStampLife;
}

// Its requirement is malformed, or no resource could ever meet it.
Answer Entrance::refuse(LocalReply refusal) {
  response_ = std::move(refusal);
  return WaitingPage{};
}

// Its visitor has no place yet.
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

}  // namespace spillway::proxy
