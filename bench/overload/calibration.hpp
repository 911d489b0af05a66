// Whether machine and backend are what results stand on: a load that the bare backend can do.
#pragma once

#include <string>

#include "bench/overload/play.hpp"

namespace spillway::bench {

inline constexpr double kCalibrationLoad = 0.7;

Cell calibration_cell(bool quick, std::uint64_t seed);

struct Calibration {
  bool good = false;
  std::string text;  // a line for people
};

// Good: it answered 99.9 % of the requests, and slots were held at most 2 % longer than they were
// to be, so that capacity is slots / mean service time in fact as well.
Calibration judge(const Result& result);

}  // namespace spillway::bench
