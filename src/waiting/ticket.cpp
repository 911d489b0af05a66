#include "waiting/ticket.hpp"

#include <string_view>

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

}  // namespace spillway::waiting
