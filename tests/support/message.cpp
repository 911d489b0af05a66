#include "support/message.hpp"

#include <strings.h>

#include <charconv>
#include <cstdlib>
#include <stdexcept>

namespace spillway::support {

namespace {

constexpr std::string_view kLineEnd = "\r\n";

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

void add_field(Fields& fields, std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) {
    throw std::runtime_error("not a field: " + std::string(line));
  }
  std::string_view value = line.substr(colon + 1);
  while (value.starts_with(' ')) value.remove_prefix(1);
  while (value.ends_with(' ')) value.remove_suffix(1);
  fields.emplace_back(line.substr(0, colon), value);
}

// The end of the body in `text` once it is there.
std::optional<std::size_t> take_chunks(std::string_view text, Message& message) {
  std::size_t at = 0;
  for (;;) {
    const std::size_t line_end = text.find(kLineEnd, at);
    if (line_end == std::string_view::npos) return std::nullopt;
    std::size_t size = 0;
    const auto parsed = std::from_chars(text.data() + at, text.data() + line_end, size, 16);
    if (parsed.ec != std::errc{}) throw std::runtime_error("not a chunk size");
    at = line_end + 2;
    if (size == 0) break;
    if (text.size() < at + size + 2) return std::nullopt;
    message.body += text.substr(at, size);
    if (text.substr(at + size, 2) != kLineEnd) throw std::runtime_error("chunk without end");
    at += size + 2;
  }
  for (;;) {
    const std::size_t line_end = text.find(kLineEnd, at);
    if (line_end == std::string_view::npos) return std::nullopt;
    const std::string_view line = text.substr(at, line_end - at);
    at = line_end + 2;
    if (line.empty()) return at;
    add_field(message.trailers, line);
  }
}

// Behind the blank line; npos while it is not there.
std::size_t head_end(std::string_view text) {
  const std::size_t blank = text.find("\r\n\r\n");
  return blank == std::string_view::npos ? blank : blank + 4;
}

Message read_head(std::string_view head) {
  Message message;
  const std::size_t first = head.find(kLineEnd);
  message.start_line = head.substr(0, first);
  std::string_view rest = head.substr(first + 2, head.size() - first - 4);
  while (!rest.empty()) {
    const std::size_t line_end = rest.find(kLineEnd);
    add_field(message.fields, rest.substr(0, line_end));
    rest.remove_prefix(line_end + 2);
  }
  return message;
}

}  // namespace

std::optional<std::string> find(const Fields& fields, std::string_view name) {
  for (const auto& [key, value] : fields) {
    if (same_name(key, name)) return value;
  }
  return std::nullopt;
}

std::size_t count(const Fields& fields, std::string_view name) {
  std::size_t found = 0;
  for (const auto& field : fields) found += same_name(field.first, name);
  return found;
}

int Message::status() const {
  return start_line.size() > 11 ? std::atoi(start_line.c_str() + 9) : 0;
}

std::string Message::method() const { return start_line.substr(0, start_line.find(' ')); }

std::string Message::target() const {
  const std::size_t begin = start_line.find(' ') + 1;
  return start_line.substr(begin, start_line.rfind(' ') - begin);
}

std::optional<Message> take_head(std::string& buffer) {
  const std::size_t end = head_end(buffer);
  if (end == std::string::npos) return std::nullopt;
  Message message = read_head(std::string_view(buffer).substr(0, end));
  buffer.erase(0, end);
  return message;
}

std::optional<Message> take_message(std::string& buffer, Expected expected, bool ended) {
  const std::size_t end = head_end(buffer);
  if (end == std::string::npos) return std::nullopt;
  Message message = read_head(std::string_view(buffer).substr(0, end));
  const std::string_view rest = std::string_view(buffer).substr(end);
  const int status = expected == Expected::request ? 0 : message.status();
  const bool bodiless = expected == Expected::head_only || status == 204 || status == 304 ||
                        (status >= 100 && status < 200);
  std::size_t size = 0;
  if (bodiless) {
    size = 0;
  } else if (message.field("Transfer-Encoding")) {
    const auto chunks_end = take_chunks(rest, message);
    if (!chunks_end) return std::nullopt;
    size = *chunks_end;
  } else if (const auto length = message.field("Content-Length")) {
    size = std::strtoull(length->c_str(), nullptr, 10);
    if (rest.size() < size) return std::nullopt;
    message.body = rest.substr(0, size);
  } else if (expected != Expected::request) {
    if (!ended) return std::nullopt;
    size = rest.size();
    message.body = rest;
  }
  message.raw_body = rest.substr(0, size);
  buffer.erase(0, end + size);
  return message;
}

std::string chunked(const std::vector<std::string>& parts, std::string_view trailers) {
  std::string text;
  for (const std::string& part : parts) {
    char size[20];
    const auto end = std::to_chars(size, size + sizeof size, part.size(), 16).ptr;
    text.append(size, end).append(kLineEnd).append(part).append(kLineEnd);
  }
  return text.append("0\r\n").append(trailers).append(kLineEnd);
}

}  // namespace spillway::support
