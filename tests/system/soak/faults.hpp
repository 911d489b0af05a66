// What goes wrong in a backend, by name.
#pragma once

#include <array>
#include <string_view>

#include "system/soak/wire.hpp"

namespace spillway::soak {

inline constexpr std::array<std::string_view, 18> kFaults{
    "reset_before", "close_before", "half_head",   "garbage",       "bad_status",
    "bad_length",   "two_lengths",  "short_body",  "reset_in_body", "broken_chunk",
    "no_end",       "stall_before", "stall_head",  "stall_body",    "flood_of_heads",
    "many_interim", "extra_bytes",  "closes_after"};

// Answers the request for `target` wrongly. Afterwards the connection is of no use.
void play_fault(Wire& wire, std::string_view fault, std::string_view target);

}  // namespace spillway::soak
