// Reads members of the JSON objects that clients send to admin pages, with messages for wrong ones.
// All functions accept any bytes.
#pragma once

#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>

namespace spillway::proxy {

// An object without duplicate members, of which the parser would keep only the last; or one
// sentence that says why it is refused.
std::variant<nlohmann::json, std::string> read_members(std::string_view body);

// A body without content.
bool is_blank(std::string_view body);

// A whole number within the bounds.
std::optional<std::int64_t> whole(const nlohmann::json& value, std::int64_t least,
                                  std::int64_t most);

// The same for the text of a parameter: all of it must be the number.
template <class Number>
bool read_number(std::string_view text, Number& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc{} && end == text.data() + text.size();
}

// A member's name for a message: its beginning, in quotes.
std::string in_quotes(std::string_view name);
std::string unknown_member(std::string_view name);

}  // namespace spillway::proxy
