#include "http/outgoing/escape.hpp"

#include <cstddef>

#include "base/shown_text.hpp"

namespace spillway::http {
namespace {

bool is_plain_json(unsigned char c) { return (c >= 0x20) & (c < 0x7f) & (c != '"') & (c != '\\'); }

// Without branches, so that compilers vectorise it: nearly all texts need no escapes.
bool is_all_plain_json(std::string_view text) {
  unsigned char special = 0;  // as wide as a character
  for (const char character : text) {
    special |= !is_plain_json(static_cast<unsigned char>(character));
  }
  return special == 0;
}

bool is_shown(char c) { return (static_cast<unsigned char>(c) >= 0x20) & (c != 0x7f); }

bool is_all_shown(std::string_view text) {
  unsigned char hidden = 0;  // as wide as a character
  for (const char c : text) hidden |= !is_shown(c);
  return hidden == 0;
}

void write_json_escape(TextWriter& out, unsigned char c) {
  static constexpr char kDigits[] = "0123456789abcdef";
  if (c == '"' || c == '\\') {
    out << '\\' << static_cast<char>(c);
  } else {
    out << "\\u00" << kDigits[c >> 4] << kDigits[c & 15];
  }
}

}  // namespace

void write_json_string(TextWriter& out, std::string_view text) {
  out << '"';
  if (is_all_plain_json(text)) {
    out << text << '"';
    return;
  }
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && is_plain_json(static_cast<unsigned char>(text[plain]))) ++plain;
    out << text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto c = static_cast<unsigned char>(text[0]);
    std::size_t used = 1;
    if (c < 0x80) {
      write_json_escape(out, c);
    } else if (const std::size_t length = first_character(text).bytes; length > 0) {
      out << text.substr(0, length);
      used = length;
    } else {
      out << "\xef\xbf\xbd";
    }
    text.remove_prefix(used);
  }
  out << '"';
}

void write_html_text(TextWriter& out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&': out << "&amp;"; break;
      case '<': out << "&lt;"; break;
      case '>': out << "&gt;"; break;
      case '"': out << "&quot;"; break;
      case '\'': out << "&#39;"; break;
      default:
        if (is_shown(c)) out << c;
    }
  }
}

void write_field_value(TextWriter& out, std::string_view text) {
  if (is_all_shown(text)) {
    out << text;
    return;
  }
  while (!text.empty()) {
    std::size_t length = 0;
    while (length < text.size() && is_shown(text[length])) ++length;
    out << text.substr(0, length);
    text.remove_prefix(length < text.size() ? length + 1 : length);
  }
}

}  // namespace spillway::http
