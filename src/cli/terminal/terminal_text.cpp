#include "cli/terminal/terminal_text.hpp"

#include <iomanip>
#include <ostream>

#include "base/shown_text.hpp"

namespace spillway {

using nlohmann::json;

std::string plain(std::string_view text, bool has_lines) {
  std::string out;
  while (!text.empty()) {
    const Character first = first_character(text);
    const std::string_view bytes = text.substr(0, first.bytes == 0 ? 1 : first.bytes);
    const bool ends_line = has_lines && text.starts_with("\r\n");
    const bool is_space = has_lines && (first.code == '\n' || first.code == '\t');
    text.remove_prefix(bytes.size());
    if (ends_line) continue;  // the \n follows
    const bool is_shown = first.bytes != 0 && (is_space || !is_deceptive(first.code));
    out += is_shown ? bytes : "?";
  }
  return out;
}

std::string member(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return {};
  return plain(found->is_string() ? found->get_ref<const std::string&>() : found->dump());
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
