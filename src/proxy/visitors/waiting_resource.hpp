// Visitors' requests about their place in a waiting room, below own_path: rooms/NAME/ticket,
// rooms/NAME/events, rooms/NAME/leave, rooms/NAME/extend, rooms/NAME/reserve, rooms/NAME/rejoin,
// rooms/NAME/refresh, rooms/NAME/join, and programs: rooms/NAME/tickets (docs/waiting-room.md).
#pragma once

#include <optional>
#include <string_view>

#include "proxy/net/parking.hpp"
#include "proxy/net/task.hpp"
#include "proxy/request/admission/admission.hpp"
#include "proxy/request/answer/answer.hpp"
#include "proxy/request/answer/local_reply.hpp"
#include "proxy/request/body/request_body.hpp"
#include "proxy/request/client/client_session.hpp"
#include "proxy/request/context/request_context.hpp"
#include "proxy/request/owner/services.hpp"
#include "proxy/visitors/room_question.hpp"
#include "proxy/visitors/visitor_identity.hpp"
#include "proxy/visitors/visitor_status.hpp"
#include "proxy/visitors/visitor_tokens.hpp"

namespace spillway::proxy {

class WaitingResource {
 public:
  // `response` gets its reports.
  WaitingResource(Services& services, const RequestContext& request, Parking& parking,
                  const VisitorTokens& tokens, RequestBody& body, LocalReply& response)
      : services_(services),
        request_(request),
        parking_(parking),
        tokens_(tokens),
        body_(body),
        response_(response) {}
  WaitingResource(const WaitingResource&) = delete;
  WaitingResource& operator=(const WaitingResource&) = delete;

  // Whether the path, below own_path, is that of a waiting room.
  static bool is_for(std::string_view path);

  Task<Answer> answer(std::string_view path);
  // For WaitingEvents: sends the head and the first event; then a VisitorStream goes on.
  Task<std::optional<Fault>> send_events(ClientSession& session, Parking& parking,
                                         Admission& admission);

 private:
  bool find(std::string_view name);
  RoomAsker asker() const { return {services_, parking_}; }
  Holder holder(const waiting::Token& token) const {
    return {token, client_address(request_), *settings_};
  }
  Task<Answer> answer_form(std::string_view part);
  static Task<Answer> refuse_form();
  Task<Answer> answer_refresh(bool is_on);
  Task<Answer> rejoin();
  Task<Answer> show();
  static Answer refuse_visit(const VisitorStatus& status);
  Answer unanswered(bool is_limited) const;
  Answer wrong_method(std::string_view allowed);
  Task<Answer> begin_events();
  Task<Answer> leave();
  Task<Answer> extend();
  Task<Answer> extend_call();
  Task<Answer> reserve();
  // `id`: the ticket in the URL.
  Task<Answer> reserve_place(std::optional<waiting::TicketId> id);
  // A poll.
  Task<VisitorStatus> ask();
  VisitorStatus ask_with_ticket(const waiting::Token& ticket);
  Task<VisitorStatus> ask_with_stamp(waiting::Token stamp);
  VisitorStatus ask_with_pass(const waiting::Token& pass);
  VisitorStatus ask_with_none();
  VisitorAt here() const { return {*room_, *settings_, services_.now()}; }

  // waiting_tickets.cpp
  Task<Answer> answer_tickets(std::string_view part);
  Task<Answer> join();
  Task<std::optional<Answer>> read_wish();
  std::optional<Answer> refuse_wish(const waiting::Ask& ask);
  bool has_session(const waiting::Token& pass);
  Task<VisitorStatus> ask_for_place(waiting::Token token);
  // `work`: a nonce, or empty.
  Task<VisitorStatus> take_place(waiting::Token stamp, waiting::Ask ask, std::string_view work);
  Task<Answer> note_arrival();
  Task<Answer> show_ticket(waiting::TicketId id);
  VisitorStatus look_at(const waiting::TicketId& id);
  Task<Answer> cancel_ticket(waiting::TicketId id);
  Answer tell_joined(unsigned status, const VisitorStatus& told);

  // waiting_offer.cpp
  Task<Answer> accept();

  Services& services_;
  const RequestContext& request_;
  Parking& parking_;
  const VisitorTokens& tokens_;
  RequestBody& body_;
  LocalReply& response_;
  SharedWaitingRoom* room_ = nullptr;
  const config::WaitingRoom* settings_ = nullptr;
  EventSeat seat_;                       // of an event stream
  waiting::Token followed_;              // the ticket of that stream
  std::optional<waiting::Token> given_;  // the visitor's new token
  waiting::Ask wanted_;                  // by a program that joins
};

}  // namespace spillway::proxy
