#include "waiting/ticket/ticket.hpp"

#include <algorithm>
#include <array>

namespace spillway::waiting {

std::string to_text(const TicketId& id) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * id.bytes.size());
  for (const std::uint8_t byte : id.bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 0x0f]);
  }
  return text;
}

std::optional<TicketId> parse_ticket_id(std::string_view text) {
  TicketId id;
  if (text.size() != 2 * id.bytes.size()) return std::nullopt;
  const auto value = [](char digit) {
    return digit >= '0' && digit <= '9' ? digit - '0' : digit - 'a' + 10;
  };
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (!std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  for (std::size_t n = 0; n < id.bytes.size(); ++n)
    id.bytes[n] = static_cast<std::uint8_t>(value(text[2 * n]) * 16 + value(text[2 * n + 1]));
  return id;
}

std::string_view name(Why why) {
  constexpr std::array<std::string_view, 8> kNames{"",     "paused", "higher_tier", "returned",
                                                   "busy", "early",  "lot",         "slower"};
  return kNames[static_cast<std::size_t>(why)];
}

std::string_view name(Ended why) {
  constexpr std::array<std::string_view, kEndedCount> kNames{
      "cancelled", "abandoned", "not_claimed", "idle",         "too_long",
      "copied",    "removed",   "room_ended",  "own_max_wait", "no_resource"};
  return kNames[static_cast<std::size_t>(why)];
}

bool is_expiry(Ended why) {
  switch (why) {
    case Ended::abandoned:
    case Ended::not_claimed:
    case Ended::idle:
    case Ended::too_long:
    case Ended::own_max_wait: return true;
    case Ended::cancelled:
    case Ended::copied:
    case Ended::removed:
    case Ended::room_ended:
    case Ended::no_resource: break;
  }
  return false;
}

}  // namespace spillway::waiting
