// The tokens of visitors of waiting rooms (waiting/token/token.hpp) in a request: in a cookie for
// each room, or in Spillway-Ticket for programs without cookies.
//
// The cookies are removed from the request's head before anything else reads it: neither cache nor
// upstream sees them, and a cached response is the same with and without them.
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

  // Invalidates views of the head. An error if the rest is not a valid head.
  http::Error take();
  // The valid token for this waiting room. A token that was issued in a field is not valid in a
  // cookie.
  std::optional<waiting::Token> find(const SharedWaitingRoom& room, TimePoint now) const;

  // Whether the client sends its token in Spillway-Ticket.
  bool is_in_field() const;

  // How to send the first token to a client. Over plain HTTP browsers send no Fetch Metadata: there
  // Accept, Origin and Referer tell the script of a page from a program.
  waiting::Carrier first_carrier() const;

  // The nonce in Spillway-Work; empty: none, or several.
  std::string_view work() const;

  // A browser keeps its cookies; a program without cookies gets the token in a field. Browsers are
  // recognised by Fetch Metadata (Sec-Fetch-*): scripts of a page must not see the token.
  bool is_program() const;

 private:
  static constexpr std::size_t kMost = 16;        // in one request
  static constexpr std::size_t kMostOfAName = 2;  // browsers send no more of one name

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

// Set-Cookie for the token, with CRLF, and Spillway-Ticket for a program. The token in the cookie
// is always signed as Carrier::cookie.
void write_token(TextWriter& out, const SharedWaitingRoom& room,
                 const config::WaitingRoom& settings, waiting::Token token, TimePoint now,
                 bool for_program);
// Deletes the cookie.
void write_token_end(TextWriter& out, const SharedWaitingRoom& room,
                     const config::WaitingRoom& settings);
inline constexpr std::size_t kTokenLines = 512;
inline constexpr std::size_t kPassLines = 384;  // for a pass, which is shorter

}  // namespace spillway::proxy
