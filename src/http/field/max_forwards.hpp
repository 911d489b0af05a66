// Max-Forwards: the number of hops that a request may still take (RFC 9110 section 7.6.2).
#pragma once

#include <cstdint>
#include <optional>

#include "http/field/field_list.hpp"

namespace spillway::http {

// The value of Max-Forwards, clamped to 32 bits. nullopt when it is missing, repeated or malformed:
// it is then not counted down.
std::optional<std::uint64_t> forwards_left(const FieldList& fields);

}  // namespace spillway::http
