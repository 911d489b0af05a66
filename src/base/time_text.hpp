// Times of day as text: RFC 3339.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace spillway {

using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;

// In UTC, with milliseconds: "2026-11-23T20:00:00.000Z".
std::string to_text(WallTime time);

// Parses such a text with any offset. A fraction may have up to nine digits; digits after the third
// are ignored. nullopt for any other text and for dates that do not exist. A leap second counts as
// the second after it.
std::optional<WallTime> parse_time(std::string_view text);

}  // namespace spillway
