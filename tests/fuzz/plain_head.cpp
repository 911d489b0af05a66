#include "fuzz/plain_head.hpp"

#include <cctype>
#include <cstdint>
#include <optional>

#include "fuzz/claim.hpp"

namespace spillway::fuzz {
namespace {

bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(a[i])) !=
        std::tolower(static_cast<unsigned char>(b[i]))) {
      return false;
    }
  }
  return true;
}

bool is_name(std::string_view text) {
  constexpr std::string_view kToken =
      "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return !text.empty() && text.find_first_not_of(kToken) == text.npos;
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Of either kind of start line.
bool is_http10(std::string_view line) {
  return line.starts_with("HTTP/") ? line.starts_with("HTTP/1.0") : line.ends_with("HTTP/1.0");
}

// The line that begins the text, without its end.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find("\r\n");
  require(end != text.npos, "each line of a head ends in CRLF", text);
  const std::string_view line = text.substr(0, end);
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    require((byte >= 0x20 && byte != 0x7f) || c == '\t', "no control characters in a head", line);
  }
  text.remove_prefix(end + 2);
  return line;
}

std::uint64_t length_of(std::string_view digits) {
  require(!digits.empty(), "a Content-Length is a number");
  std::uint64_t length = 0;
  for (const char c : digits) {
    require(c >= '0' && c <= '9', "a Content-Length has digits only", digits);
    const auto digit = static_cast<std::uint64_t>(c - '0');
    require(length <= (std::uint64_t{INT64_MAX} - digit) / 10, "a Content-Length is below 2^63",
            digits);
    length = length * 10 + digit;
  }
  return length;
}

}  // namespace

std::size_t PlainHead::count(std::string_view name) const {
  std::size_t n = 0;
  for (const PlainField& field : fields) n += same(field.name, name);
  return n;
}

PlainHead plain_head(std::string_view head) {
  PlainHead out;
  out.start_line = take_line(head);
  require(!out.start_line.empty(), "a head begins with a line that is not empty");
  for (;;) {
    const char* begin = head.data();
    const std::string_view line = take_line(head);
    if (line.empty()) break;
    const std::size_t colon = line.find(':');
    require(colon != line.npos, "each field line has a colon", line);
    const std::string_view name = line.substr(0, colon);
    require(is_name(name), "a field's name is a token", line);
    out.fields.push_back({name, without_blanks(line.substr(colon + 1)), {begin, line.size() + 2}});
  }
  require(head.empty(), "a head ends with its first empty line", head);
  return out;
}

bool is_version(std::string_view text, unsigned version) {
  if (text.size() != 8 || !text.starts_with("HTTP/1.")) return false;
  const char minor = text.back();
  return version == 10 ? minor == '0' : version == 11 && minor >= '1' && minor <= '9';
}

http::Framing plain_framing(const PlainHead& head, LengthIs lengths) {
  http::Framing framing;
  const std::size_t codings = head.count("Transfer-Encoding");
  const bool has_length = head.count("Content-Length") > 0;
  require(codings + (has_length ? 1 : 0) <= 1, "at most one framing field");
  require(lengths == LengthIs::said_often || head.count("Content-Length") <= 1, "one length");
  std::optional<std::uint64_t> length;
  for (const PlainField& field : head.fields) {
    if (same(field.name, "Transfer-Encoding")) {
      require(same(field.value, "chunked"), "the only coding is chunked", field.line);
      require(!is_http10(head.start_line), "chunked is HTTP/1.1", head.start_line);
      framing.kind = http::Framing::Kind::chunked;
    } else if (same(field.name, "Content-Length")) {
      std::string_view list = field.value;
      for (bool has_more = true; has_more;) {
        const std::size_t comma = list.find(',');
        has_more = lengths == LengthIs::said_often && comma != list.npos;
        const std::uint64_t one =
            length_of(has_more ? without_blanks(list.substr(0, comma)) : without_blanks(list));
        require(!length || *length == one, "all lengths are the same", field.line);
        length = one;
        if (has_more) list.remove_prefix(comma + 1);
      }
    }
  }
  framing.length = length.value_or(0);
  if (framing.length > 0) framing.kind = http::Framing::Kind::length;
  return framing;
}

}  // namespace spillway::fuzz
