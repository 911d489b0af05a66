// What visitors of waiting rooms carry from request to request (waiting/token/token.hpp): in a
// cookie for each room, or in Spillway-Ticket for programs without cookies.
//
// The cookies are taken out of the request's head before anything else reads it: neither cache nor
// upstream sees them, and a stored response is the same with and without them.
#pragma once

#include <boost/container/static_vector.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/text_writer.hpp"
#include "proxy/request/client/client_session.hpp"
#include "proxy/request/context/request_context.hpp"
#include "proxy/waiting/visitor_cookies.hpp"

namespace spillway::proxy {

class VisitorTokens {
 public:
  VisitorTokens(const RequestContext& request, ClientSession& session)
      : request_(request), session_(session) {}
  VisitorTokens(const VisitorTokens&) = delete;
  VisitorTokens& operator=(const VisitorTokens&) = delete;

  // Views of the head do not survive it. An error if what is left is no head.
  http::Error take();
  // The one for this waiting room that is valid. One that was given in a field is not valid in a
  // cookie.
  std::optional<waiting::Token> find(const SharedWaitingRoom& room, TimePoint now) const;

  // Whether the client sends its token in Spillway-Ticket.
  bool is_in_field() const;

  // How a first contact is given its token. Over plain HTTP browsers send no Fetch Metadata: there
  // Accept, Origin and Referer tell the script of a page from a program.
  waiting::Carrier first_carrier() const;

  // The nonce in Spillway-Work; empty: none, or several.
  std::string_view work() const;

  // The visitor keeps to its cookies; a program without them is told the token in a field. Browsers
  // are known by Fetch Metadata (Sec-Fetch-*): scripts of a page are not shown the token.
  bool is_program() const;

 private:
  static constexpr std::size_t kMost = 16;        // in one request
  static constexpr std::size_t kMostOfAName = 2;  // of them; no browser sends more of ours

  struct Carried {
    VisitorCookie cookie;
    waiting::TokenText text;
  };

  bool take(std::string_view name, std::string_view value);
  std::optional<waiting::Token> find(const VisitorCookie& cookie, TimePoint now) const;

  const RequestContext& request_;
  ClientSession& session_;
  boost::container::static_vector<Carried, kMost> carried_;  // most requests have none
};

// nullopt: the system has no random numbers.
std::optional<waiting::TicketId> new_ticket_id();

// Set-Cookie for the token, with CRLF, and Spillway-Ticket for a program. What is in the cookie is
// always Carrier::cookie.
void write_token(TextWriter& out, const SharedWaitingRoom& room,
                 const config::WaitingRoom& settings, waiting::Token token, TimePoint now,
                 bool for_program);
// The cookie is over.
void write_token_end(TextWriter& out, const SharedWaitingRoom& room,
                     const config::WaitingRoom& settings);
inline constexpr std::size_t kTokenLines = 512;
inline constexpr std::size_t kPassLines = 384;  // of a pass, which is shorter

}  // namespace spillway::proxy
