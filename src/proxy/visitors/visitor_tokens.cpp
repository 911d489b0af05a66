#include "proxy/visitors/visitor_tokens.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "http/field/accept.hpp"
#include "http/field/ascii.hpp"
#include "proxy/net/random_bytes.hpp"
#include "proxy/visitors/visitor_status.hpp"

namespace spillway::proxy {

namespace {

constexpr std::string_view kTicketField = "Spillway-Ticket";
constexpr std::string_view kWorkField = "Spillway-Work";

void write_cookie(TextWriter& out, const SharedWaitingRoom& room,
                  const config::WaitingRoom& settings, std::string_view value,
                  std::chrono::seconds life) {
  out << "Set-Cookie: " << room.cookies()[settings.secure_cookie ? 0 : 1] << '=' << value
      << "; Path=/; HttpOnly; SameSite=Lax" << (settings.secure_cookie ? "; Secure" : "")
      << "; Max-Age=" << life.count() << "\r\n";
}

// A browser that is closed and opened again keeps its token for as long as that is valid, and no
// longer than the key that signed it is accepted.
std::chrono::seconds life_of(std::string_view token, const config::WaitingRoom& settings) {
  constexpr Milliseconds kOfKey = waiting::TokenKeys::kAccepted;
  Milliseconds life = kOfKey;  // a ticket is valid while its visitor polls
  if (token.starts_with(static_cast<char>(waiting::TokenKind::stamp))) life = stamp_life(settings);
  if (token.starts_with(static_cast<char>(waiting::TokenKind::pass)))
    life = std::min(settings.sessions.ttl, kOfKey);
  return std::chrono::ceil<std::chrono::seconds>(life);
}

}  // namespace

std::optional<waiting::TicketId> new_ticket_id() {
  waiting::TicketId id;
  if (!fill_randomly(id.bytes)) return std::nullopt;
  return id;
}

http::Error VisitorTokens::take() {
  if (request_.generation->generation().visitor_cookies.is_empty()) return http::Error::none;
  return session_.extract_cookies(
      [this](std::string_view name, std::string_view value) { return take(name, value); });
}

bool VisitorTokens::take(std::string_view name, std::string_view value) {
  const VisitorCookie cookie = request_.generation->generation().visitor_cookies.find(name);
  if (cookie.room == nullptr) return false;
  if (cookie.standing == CookieStanding::plantable) return true;
  const auto of_name =
      static_cast<std::size_t>(std::ranges::count(carried_, cookie, &Carried::cookie));
  if (carried_.size() < kMost && of_name < kMostOfAName &&
      waiting::TokenText::is_size(value.size()))
    carried_.push_back({cookie, waiting::TokenText(value)});
  return true;
}

// A token issued in a field is not valid in a cookie: pasted into the cookies of many browsers it
// would serve them all, and no copy of it would ever be detected.
std::optional<waiting::Token> VisitorTokens::find(const VisitorCookie& cookie,
                                                  TimePoint now) const {
  for (const Carried& carried : carried_) {
    if (carried.cookie != cookie) continue;
    const auto token = cookie.room->verify({carried.text.data(), carried.text.size()}, now);
    if (token && token->carrier == waiting::Carrier::cookie) return token;
  }
  return std::nullopt;
}

std::optional<waiting::Token> VisitorTokens::find(const SharedWaitingRoom& room,
                                                  TimePoint now) const {
  for (const CookieStanding standing : {CookieStanding::current, CookieStanding::former}) {
    if (const auto token = find(VisitorCookie{&room, standing}, now)) return token;
  }
  const http::Field* const field = request_.head.fields.find(kTicketField);
  return field != nullptr ? room.verify(field->value, now) : std::nullopt;
}

bool VisitorTokens::is_in_field() const {
  return request_.head.fields.find(kTicketField) != nullptr;
}

std::string_view VisitorTokens::work() const {
  const http::Field* only = nullptr;
  for (const http::Field& field : request_.head.fields) {
    if (!http::iequals(field.name, kWorkField)) continue;
    if (only != nullptr) return {};
    only = &field;
  }
  return only != nullptr ? std::string_view(only->value) : std::string_view{};
}

bool VisitorTokens::is_program() const {
  const http::FieldList& fields = request_.head.fields;
  return fields.find("Sec-Fetch-Site") == nullptr && fields.find("Sec-Fetch-Mode") == nullptr;
}

waiting::Carrier VisitorTokens::first_carrier() const {
  const http::FieldList& fields = request_.head.fields;
  const bool is_of_page = http::prefers_html(fields) || fields.find("Origin") != nullptr ||
                          fields.find("Referer") != nullptr;
  return is_program() && !is_of_page ? waiting::Carrier::field : waiting::Carrier::cookie;
}

void write_token(TextWriter& out, const SharedWaitingRoom& room,
                 const config::WaitingRoom& settings, waiting::Token token, TimePoint now,
                 bool for_program) {
  const waiting::Carrier carrier = std::exchange(token.carrier, waiting::Carrier::cookie);
  waiting::TokenText text = room.sign(token, now);
  const std::string_view kept{text.data(), text.size()};
  write_cookie(out, room, settings, kept, life_of(kept, settings));
  if (!for_program) return;
  token.carrier = carrier;
  if (carrier == waiting::Carrier::field) text = room.sign(token, now);
  out << kTicketField << ": " << std::string_view{text.data(), text.size()} << "\r\n";
}

void write_token_end(TextWriter& out, const SharedWaitingRoom& room,
                     const config::WaitingRoom& settings) {
  write_cookie(out, room, settings, "", std::chrono::seconds(0));
}

}  // namespace spillway::proxy
