// Max-Forwards: the number of hops that a request may still take (RFC 9110 section 7.6.2).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "http/field/ascii.hpp"
#include "http/field/field_list.hpp"

namespace spillway::http {

// The value of Max-Forwards, clamped to 32 bits. nullopt if it is missing, repeated or malformed:
// it is then not decremented.
inline std::optional<std::uint64_t> forwards_left(const FieldList& fields) {
  const Field* field = fields.find(FieldId::max_forwards);
  if (field == nullptr || field->value.empty()) return std::nullopt;
  if (fields.count(FieldId::max_forwards) > 1) return std::nullopt;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t left = 0;
  for (const char c : field->value) {
    if (!is_digit(c)) return std::nullopt;
    left = left * 10 + static_cast<std::uint64_t>(c - '0');
    if (left > kMost) left = kMost;
  }
  return left;
}

}  // namespace spillway::http
