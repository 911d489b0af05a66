// A run, or two runs of the same traffic side by side, as one SVG 1.1 picture.
//
// Self-contained: no scripts, no external fonts or files, its own white background. Equal
// recordings give equal bytes. The colours are those of Okabe and Ito, "Color Universal Design",
// 2008, which are distinguishable with any colour vision.
//
// From top to bottom: scenario and legend; for each run its key figures, a strip of overload states
// (which also tint the panels below), a panel per class (offered and served requests), queue depth
// and p95. Both runs have the same axes; queue depth and p95 are logarithmic if the peaks of the
// two runs differ by more than a factor of ten.
#pragma once

#include <string>

#include "simulate/recording/recording.hpp"

namespace spillway::simulate {

// `without` is the same traffic with shedding off, or null.
std::string plot(const Recording& with, const Recording* without);

}  // namespace spillway::simulate
