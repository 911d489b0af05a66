#include "cli/terminal_text.hpp"

#include <iomanip>
#include <ostream>

namespace spillway {

using nlohmann::json;

std::string plain(std::string_view text, bool has_lines) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    const auto next = static_cast<unsigned char>(at + 1 < text.size() ? text[at + 1] : 0);
    if (c == '\r' && has_lines && next == '\n') continue;
    if (c == 0xc2 && next >= 0x80 && next < 0xa0) {
      out += '?';
      ++at;
    } else if ((c == '\n' || c == '\t') && has_lines) {
      out += text[at];
    } else {
      out += c < 0x20 || c == 0x7f ? '?' : text[at];
    }
  }
  return out;
}

std::string member(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return {};
  return found->is_string() ? plain(found->get_ref<const std::string&>()) : found->dump();
}

std::string seconds_of(const std::string& time) {
  return time.size() == 24 ? time.substr(0, 19) + "Z" : time;
}

void print_cells(std::ostream& out, std::span<const std::string> cells,
                 std::span<const int> widths) {
  for (std::size_t n = 0; n < cells.size(); ++n) {
    if (n > 0) out << "  ";
    out << std::left << std::setw(widths[n]) << cells[n];
  }
  out << '\n';
}

void print_member(std::ostream& out, const json& object, const char* name, int width) {
  const std::string text = member(object, name);
  if (!text.empty()) out << std::left << std::setw(width) << name << "  " << text << '\n';
}

}  // namespace spillway
