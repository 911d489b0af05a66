// One picture of a run (or of two runs of the same traffic beside each other) as SVG 1.1.
//
// Self-contained: no scripts, no fonts or files from elsewhere, its own light background. The same
// recordings give the same bytes. Colours are those of Okabe and Ito, "Color Universal Design",
// 2008, which readers with any colour vision tell apart.
//
// From top to bottom: the scenario, its key figures, the states with their reasons (they also tint
// the panels), offered against served for each class, queue depth, p95, and a table of the
// classes. Panels side by side have equal scales; queue depth and p95 are logarithmic where the two
// runs' peaks differ by more than ten times. Texts are UTF-8 and may hold anything.
#pragma once

#include <string>

#include "simulate/recording.hpp"

namespace spillway::simulate {

// `without` is the same traffic with shedding off, or null.
std::string plot(const Recording& with, const Recording* without);

}  // namespace spillway::simulate
