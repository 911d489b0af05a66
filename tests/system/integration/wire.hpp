// What the tests of the wire have in common.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "support/event.hpp"
#include "support/places.hpp"

namespace spillway::support {

inline const bool kSanitized = is_sanitized();

// What HTTP.md's promises of "at once" mean here: the sweep's period twice, and room.
inline const Milliseconds kSoon{kSanitized ? 1000 : 200};

// Everything is of the first class, which is not shed when the upstream fails on purpose.
inline nlohmann::json never_shed(const nlohmann::json& changes = nlohmann::json::object()) {
  nlohmann::json settings = {{"default_route", {{"class", "P0"}}}};
  settings.merge_patch(changes);
  return settings;
}

// The same; the upstream gets a body of more than 64 KiB as it comes.
inline nlohmann::json streamed(const nlohmann::json& changes = nlohmann::json::object()) {
  nlohmann::json settings = never_shed({{"default_route", {{"request_buffering", "off"}}}});
  settings.merge_patch(changes);
  return settings;
}

inline std::string ok(std::string_view body, std::string_view lines = {}) {
  return std::string("HTTP/1.1 200 OK\r\nContent-Length: ")
      .append(std::to_string(body.size()))
      .append("\r\n")
      .append(lines)
      .append("\r\n")
      .append(body);
}

// Bytes that show when any is lost, doubled or moved.
inline std::string pattern(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 1;
  for (char& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

}  // namespace spillway::support
