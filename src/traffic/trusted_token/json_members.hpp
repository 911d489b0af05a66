// Single members of a JSON object (RFC 8259), read without building a tree of the rest: the text is
// a client's.
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
  std::vector<std::string> texts{};  // of `text` one; of `texts`, an array of strings alone, all
  double number = 0;

  // The text of Kind::text; else empty.
  std::string_view text() const { return kind == Kind::text ? texts.front() : std::string_view{}; }
};

// Fills the members of these names. False if the text is no object, is nested deeper than 16, or
// has one of these names twice: readers differ about which of them counts.
bool read_members(std::string_view text, std::span<JsonMember> wanted);

}  // namespace spillway::traffic
