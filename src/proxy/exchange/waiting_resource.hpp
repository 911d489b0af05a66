// What visitors ask of their place in a waiting room, below own_path: rooms/NAME/ticket,
// rooms/NAME/events, rooms/NAME/leave, rooms/NAME/refresh (docs/waiting-room.md).
#pragma once

#include <optional>
#include <string_view>

#include "proxy/exchange/admission.hpp"
#include "proxy/exchange/answer.hpp"
#include "proxy/exchange/client_session.hpp"
#include "proxy/exchange/own_response.hpp"
#include "proxy/exchange/request_context.hpp"
#include "proxy/exchange/services.hpp"
#include "proxy/exchange/visitor_status.hpp"
#include "proxy/exchange/visitor_tokens.hpp"
#include "proxy/net/parking.hpp"
#include "proxy/net/task.hpp"

namespace spillway::proxy {

class WaitingResource {
 public:
  WaitingResource(Services& services, const RequestContext& request, const VisitorTokens& tokens)
      : services_(services), request_(request), tokens_(tokens) {}
  WaitingResource(const WaitingResource&) = delete;
  WaitingResource& operator=(const WaitingResource&) = delete;

  // Whether the path, below own_path, is one of a waiting room.
  static bool is_for(std::string_view path);

  Answer answer(std::string_view path);
  // Of WaitingReport.
  const OwnResponse& response() const { return response_; }
  // Of WaitingEvents: the visitor's status (WHATWG HTML section 9.2), when it changes.
  Task<std::optional<Fault>> send_events(ClientSession& session, Parking& parking,
                                         Admission& admission);

 private:
  bool find(std::string_view name);
  Answer show();
  Answer begin_events();
  Task<std::optional<Fault>> tell_news(ClientSession& session, Parking& parking);
  Answer leave();
  VisitorStatus ask();
  VisitorStatus ask_with_stamp(const waiting::Token& stamp);
  VisitorStatus ask_with_none();
  std::string describe(const VisitorStatus& status) const;

  Services& services_;
  const RequestContext& request_;
  const VisitorTokens& tokens_;
  SharedWaitingRoom* room_ = nullptr;
  const config::WaitingRoom* settings_ = nullptr;
  EventSeat seat_;
  std::optional<waiting::Token> given_;  // what the visitor carries from now on
  OwnResponse response_;
};

}  // namespace spillway::proxy
