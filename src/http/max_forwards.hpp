// How many more hops a request may take (RFC 9110 section 7.6.2).
#pragma once

#include <cstdint>
#include <optional>

#include "http/field_list.hpp"

namespace spillway::http {

// What Max-Forwards says; as much as fits, if it says more. nullopt when it is missing, repeated or
// no number: then nobody counts.
std::optional<std::uint64_t> forwards_left(const FieldList& fields);

}  // namespace spillway::http
