// Writes the members of one JSON object (RFC 8259) into a fixed block, for a log line.
//
// The text is valid JSON and valid UTF-8 whatever the values contain: control characters (C1 too)
// and characters that are invisible, separate lines or change the text direction are escaped; bytes
// that are not UTF-8 (RFC 3629) become U+FFFD. A member that no longer fits is left out completely.
// Keys are the program's own and need no escaping.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace spillway::observe {

class JsonLine {
 public:
  static constexpr std::size_t kCapacity = 5120;

  JsonLine& text(std::string_view key, std::string_view value);
  JsonLine& integer(std::string_view key, std::uint64_t value);
  // Three digits after the decimal point; null if it is not finite.
  JsonLine& number(std::string_view key, double value);
  // A nested object: members added until close() belong to it. Cannot be nested further.
  JsonLine& open(std::string_view key);
  JsonLine& close();

  // The members, separated by commas, without the outer braces.
  std::string_view members() const { return {block_.data(), size_}; }

 private:
  bool put(std::string_view text);
  bool put_escape(char32_t c);
  bool put_escaped(std::string_view text);
  template <class PutValue>
  JsonLine& member(std::string_view key, PutValue put_value);

  static constexpr std::size_t kReserve = 1;  // for the brace of close()

  std::array<char, kCapacity> block_;
  std::size_t size_ = 0;
  bool first_ = true;      // no comma before the next member
  bool nested_ = false;    // between open() and close()
  bool skipping_ = false;  // open() itself did not fit
};

}  // namespace spillway::observe
