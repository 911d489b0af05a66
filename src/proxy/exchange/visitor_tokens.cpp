#include "proxy/exchange/visitor_tokens.hpp"

#include <sys/random.h>

#include <algorithm>

#include "http/cookie.hpp"

namespace spillway::proxy {

namespace {

constexpr std::string_view kTicketField = "Spillway-Ticket";
// Each costs a look at the head.
constexpr int kMostOfAName = 4;

void write_cookie(TextWriter& out, const SharedWaitingRoom& room,
                  const config::WaitingRoom& settings, std::string_view value,
                  std::string_view attributes) {
  out << "Set-Cookie: " << room.cookies()[settings.secure_cookie ? 0 : 1] << value
      << "; Path=/; HttpOnly; SameSite=Lax" << (settings.secure_cookie ? "; Secure" : "")
      << attributes << "\r\n";
}

}  // namespace

std::optional<waiting::TicketId> new_ticket_id() {
  waiting::TicketId id;
  const auto size = static_cast<ssize_t>(id.bytes.size());
  if (::getrandom(id.bytes.data(), id.bytes.size(), 0) != size) return std::nullopt;
  return id;
}

void VisitorTokens::take() {
  for (const auto& room : request_.generation->generation().waiting_rooms) {
    if (!room) continue;
    for (const std::string& name : room->cookies()) take(*room, name);
  }
}

void VisitorTokens::take(const SharedWaitingRoom& room, std::string_view name) {
  for (int n = 0; n < kMostOfAName; ++n) {
    const auto cookie = http::find_cookie(request_.head.fields, name);
    if (!cookie) return;
    if (size_ < kMost && cookie->value.size() == waiting::kTokenText) {
      Carried& carried = carried_[size_++];
      carried.room = &room;
      std::ranges::copy(cookie->value, carried.text.begin());
    }
    session_.remove_from_head(cookie->part);
  }
}

std::optional<waiting::Token> VisitorTokens::find(const SharedWaitingRoom& room,
                                                  TimePoint now) const {
  for (std::size_t n = 0; n < size_; ++n) {
    const Carried& carried = carried_[n];
    if (carried.room != &room) continue;
    if (const auto token = room.verify({carried.text.data(), carried.text.size()}, now))
      return token;
  }
  const http::Field* const field = request_.head.fields.find(kTicketField);
  return field != nullptr ? room.verify(field->value, now) : std::nullopt;
}

bool VisitorTokens::is_program() const {
  const http::FieldList& fields = request_.head.fields;
  return fields.find("Sec-Fetch-Site") == nullptr && fields.find("Sec-Fetch-Mode") == nullptr;
}

void write_token(TextWriter& out, const SharedWaitingRoom& room,
                 const config::WaitingRoom& settings, std::string_view token, bool for_program) {
  write_cookie(out, room, settings, token, "");
  if (for_program) out << kTicketField << ": " << token << "\r\n";
}

void write_token_end(TextWriter& out, const SharedWaitingRoom& room,
                     const config::WaitingRoom& settings) {
  write_cookie(out, room, settings, "", "; Max-Age=0");
}

}  // namespace spillway::proxy
