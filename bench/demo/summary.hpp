// The table at the end of the demo: what each class got, with Spillway and without.
#pragma once

#include <span>
#include <string>

#include "bench/load/arrivals.hpp"
#include "live_table.hpp"
#include "tally.hpp"

namespace spillway::demo {

struct Run {
  std::string title;
  Tally tally;
};

// Runs side by side, phase by phase and class by class; then what degraded, denied and failed
// requests were told, and whether the load generator kept up. All runs have the phases `phases`.
std::string summary(std::span<const Run> runs, std::span<const load::Phase> phases,
                    const Paint& paint);

}  // namespace spillway::demo
