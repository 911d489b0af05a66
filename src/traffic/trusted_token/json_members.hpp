// Reads single members of a JSON object (RFC 8259) without building a tree of the rest: the text
// comes from a client.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::traffic {

struct JsonMember {
  enum class Kind : std::uint8_t { absent, text, texts, number, other };

  std::string_view name;
  Kind kind = Kind::absent;
  std::vector<std::string> texts{};  // Kind::text: one; Kind::texts (an array of only strings): all
  double number = 0;

  // The text if this is Kind::text; otherwise empty.
  std::string_view text() const { return kind == Kind::text ? texts.front() : std::string_view{}; }
};

// Fills the members with these names. False if the text is not an object, is nested deeper than 16,
// or has one of these names twice: JSON readers differ in which of them counts.
bool read_members(std::string_view text, std::span<JsonMember> wanted);

}  // namespace spillway::traffic
