// The regression gate: whether Spillway still costs no more beside HAProxy than was agreed on.
//
// A bound is a ratio within one run, never a time, so it holds on any machine. What is judged is
// the median of the rounds' ratios, which one bad round does not move, and it may exceed the bound
// by the margin, which is for noise.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "results.hpp"
#include "spread.hpp"

namespace spillway::report {

struct Bound {
  std::string workload;
  double ratio = 1;   // CPU per request, Spillway's of HAProxy's
  double margin = 0;  // a share of it
};

// {"small-get": {"ratio": 0.8, "margin": 0.1}}, comments allowed. Throws std::runtime_error for
// anything else, and for a ratio that is not positive or a negative margin.
std::vector<Bound> read_bounds(std::istream& text);

enum class Outcome { kept, broken, unmeasured };

struct OverloadStatus {
  Bound bound;
  Spread ratio;
  Outcome outcome = Outcome::unmeasured;
};

// Fewer than this many rounds with both figures are no evidence: unmeasured.
inline constexpr std::size_t kFewestRounds = 3;

OverloadStatus judge(const std::vector<CostCell>& cells, const Bound& bound);

// "small-get: 0.81 of HAProxy's CPU per request (0.79 to 0.84 in 7 rounds), at most 0.88: kept"
std::string sentence(const OverloadStatus& judgement);

// The status to exit with: 0 all kept, 1 some broken, 2 otherwise, and of no bounds at all.
int status_of(const std::vector<OverloadStatus>& judgements);

}  // namespace spillway::report
