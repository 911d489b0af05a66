// One phase of several runs side by side: what each class got of the same load.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "arrivals.hpp"
#include "live_table.hpp"
#include "summary.hpp"

namespace spillway::demo {

// A row for each class and one for all: ok and, of these, degraded, in per cent of the requests
// that ended; p50 and p99 of the ok ones in milliseconds. All runs have the phases `phases`.
std::string comparison(std::span<const Run> runs, std::span<const Phase> phases, std::size_t phase,
                       const Paint& paint);

}  // namespace spillway::demo
