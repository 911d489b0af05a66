#include "proxy/exchange/visitor_tokens.hpp"

#include <sys/random.h>

#include <algorithm>

namespace spillway::proxy {

namespace {

constexpr std::string_view kTicketField = "Spillway-Ticket";

void write_cookie(TextWriter& out, const SharedWaitingRoom& room,
                  const config::WaitingRoom& settings, std::string_view value,
                  std::string_view attributes) {
  out << "Set-Cookie: " << room.cookies()[settings.secure_cookie ? 0 : 1] << '=' << value
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
  if (request_.generation->generation().visitor_cookies.is_empty()) return;
  session_.extract_cookies(
      [this](std::string_view name, std::string_view value) { return take(name, value); });
}

bool VisitorTokens::take(std::string_view name, std::string_view value) {
  const SharedWaitingRoom* const room =
      request_.generation->generation().visitor_cookies.room_of(name);
  if (room == nullptr) return false;
  if (size_ < kMost && value.size() == waiting::kTokenText) {
    Carried& carried = carried_[size_++];
    carried.room = room;
    std::ranges::copy(value, carried.text.begin());
  }
  return true;
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
