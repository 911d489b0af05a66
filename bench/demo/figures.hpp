// Figures as the demo's tables print them.
#pragma once

#include <cstdint>
#include <string>

#include "tally.hpp"

namespace spillway::demo {

// `part` of the requests that ended; 0 when none did.
double per_cent(std::uint64_t part, const Counts& counts);

// The percentile `share` of the ok answers in milliseconds, e.g. "23", "0.4", "<0.1", or "-"
// without any.
std::string latency(const Counts& counts, double share);

}  // namespace spillway::demo
