// The entrance of a route with a waiting room: decides which requests go on and which have to wait.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/reason.hpp"
#include "proxy/request/answer/answer.hpp"
#include "proxy/request/answer/local_reply.hpp"
#include "proxy/request/context/request_context.hpp"
#include "proxy/request/owner/services.hpp"
#include "proxy/visitors/room_question.hpp"
#include "proxy/visitors/visitor_identity.hpp"
#include "proxy/visitors/visitor_session_end.hpp"
#include "proxy/visitors/visitor_status.hpp"
#include "proxy/visitors/visitor_tokens.hpp"
#include "proxy/waiting/stay.hpp"
#include "traffic/trusted_token/visitor_claims.hpp"

namespace spillway::proxy {

class Entrance {
 public:
  // `response` gets the response for visitors that wait.
  Entrance(Services& services, RequestContext& request, Parking& parking,
           const VisitorTokens& tokens, LocalReply& response)
      : services_(services),
        request_(request),
        parking_(parking),
        tokens_(tokens),
        response_(response) {}
  Entrance(const Entrance&) = delete;
  Entrance& operator=(const Entrance&) = delete;

  // True: the request goes on at once, because its route has no waiting room, the request bypasses
  // it, or its pass alone is enough. Mostly without a look at the waiting room.
  bool lets_pass();
  // To be called otherwise. nullopt: the request goes on; if it has a pass, in the class of
  // admitted visitors and with its deadline, and with RequestContext::pass and pass_lines. Else
  // WaitingPage, or a fault for a request that is no visit: for a picture, a form, a prefetch.
  Task<std::optional<Answer>> enter();
  // The same for a fresh cached response, which takes no capacity of the upstream and so needs no
  // pass. A pass is still renewed: its session is in use. A ticket is claimed, or its holder gets
  // the waiting page: the cached response would replace that page, and the call would be missed.
  Task<std::optional<Answer>> look_in();
  // The reason of a WaitingPage.
  Reason reason() const { return reason_; }

  // The visitor's session, for visitor_session_end().
  VisitorSession session() const {
    return {.is_open = inside_.has_value(), .is_new = claimed_.has_value()};
  }
  // Call it before the head of the response that ends the session is sent: with `in_line` the
  // visitor gets no pass, but keeps its ticket; with `over` another visitor can enter at once, not
  // only once the session is idle.
  Task<> end_session(VisitorSessionEnd how);

  // If the visitor has a pass: it is still here.
  void report_stay(TimePoint now) { stay_.report(now); }
  // The same for a response that outlasts the request and its generation.
  Stay lasting_stay() const;

 private:
  bool bypasses();
  Milliseconds age_of(const waiting::Token& token) const;
  Milliseconds renew_after() const;
  bool needs_look(const waiting::Token& pass) const;
  RoomAsker asker() const { return {services_, parking_}; }
  Holder holder(const waiting::Token& token) const {
    return {token, client_address(request_), *settings_};
  }
  // The result of showing a pass.
  enum class Shown : std::uint8_t {
    inside,   // it is valid
    in_line,  // it was shown late: see WaitingRoom::use()
    limited,  // the same, and its visitor may get no ticket now
    over
  };
  Task<Shown> show(waiting::Token pass);
  Reason judge_late(const waiting::Token& pass);
  void note_late(const waiting::Token& pass, bool has_joined);
  bool may_come_late(const waiting::Token& pass);
  Answer tell_late(const waiting::Token& pass);
  Task<std::optional<Answer>> claim(waiting::Token ticket);
  std::optional<Answer> tell_end(const waiting::TicketId& id);

  // entrance_arrival.cpp
  Task<std::optional<Answer>> join(waiting::Token stamp);
  std::optional<Answer> go_on(const waiting::WaitingRoom::Contact& contact,
                              const waiting::Token& stamp);
  Task<std::optional<Answer>> arrive(bool lacks_work = false);
  bool comes_twice(const waiting::Arrive& arrival);
  bool outlasts_a_page(const waiting::Token& stamp) const;
  Answer refuse(LocalReply refusal);
  bool has_its_session(const waiting::Token& pass);
  Answer limit_joins();
  void let_in(const waiting::TicketId& id);
  void renew(const waiting::Token& of, std::uint32_t generation, Milliseconds age = {});
  void give(const waiting::Token& pass);
  Answer turn_away(waiting::WaitingRoom::Door door, const waiting::UserKey& user);
  Answer tell_stamped(const waiting::Token& stamp);
  Answer tell_again(std::optional<waiting::Token> token);
  Answer tell(const VisitorStatus& status, std::optional<waiting::Token> token);
  Task<> leave();
  Task<> go_back();

  Services& services_;
  RequestContext& request_;
  Parking& parking_;
  const VisitorTokens& tokens_;
  LocalReply& response_;
  SharedWaitingRoom* room_ = nullptr;
  const config::WaitingRoom* settings_ = nullptr;
  Reason reason_ = Reason::waiting_room;
  std::optional<waiting::Token> token_;       // the visitor's
  std::optional<traffic::TokenWord> word_;    // once it was looked for
  std::optional<waiting::TicketId> inside_;   // of the admitted visitor
  std::optional<waiting::TicketId> claimed_;  // its session began with this request
  std::optional<waiting::Token> first_pass_;  // a new one; there is no session until it is shown
  Stay stay_;
  std::array<char, kPassLines> pass_lines_;
  std::array<char, 192> pass_;
};

}  // namespace spillway::proxy
