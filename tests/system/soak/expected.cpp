#include "system/soak/expected.hpp"

#include <charconv>

namespace spillway::soak {

std::string_view parameter(std::string_view target, std::string_view name) {
  std::size_t at = target.find('?');
  while (at != std::string_view::npos) {
    const std::string_view rest = target.substr(at + 1);
    const std::size_t end = rest.find('&');
    const std::string_view pair = rest.substr(0, end);
    if (pair.starts_with(name) && pair.substr(name.size()).starts_with('='))
      return pair.substr(name.size() + 1);
    at = end == std::string_view::npos ? end : at + 1 + end;
  }
  return {};
}

std::size_t number(std::string_view target, std::string_view name, std::size_t otherwise) {
  const std::string_view text = parameter(target, name);
  std::size_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc{} ? value : otherwise;
}

std::string line_of(std::string_view target, std::string_view language, std::string_view user) {
  std::string line(target);
  line.append("|").append(language).append("|").append(user).append("\n");
  return line;
}

std::string body_of(std::string_view line, std::size_t size) {
  std::string body;
  body.reserve(size + line.size());
  while (body.size() < size) body += line;
  body.resize(size);
  return body;
}

bool is_body_of(std::string_view line, std::size_t size, std::string_view body) {
  if (body.size() != size) return false;
  for (; body.size() >= line.size(); body.remove_prefix(line.size())) {
    if (!body.starts_with(line)) return false;
  }
  return line.starts_with(body);
}

std::uint64_t digest(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

std::string receipt(std::string_view target, std::string_view body) {
  return std::string(target) + " " + std::to_string(body.size()) + " " +
         std::to_string(digest(body)) + "\n";
}

std::string entity_tag(std::string_view line) { return "\"" + std::to_string(digest(line)) + "\""; }

}  // namespace spillway::soak
