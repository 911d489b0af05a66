// What one cell measured, as a result line (fields: bench/README.md) and as a line of text.
#pragma once

#include <string>

#include "bench/hostile/backend.hpp"
#include "bench/hostile/cell.hpp"
#include "bench/hostile/probes.hpp"
#include "bench/hostile/usage.hpp"

namespace spillway::hostile {

struct Result {
  Cell cell;
  Probes probes;
  Usage usage;
  Backend::Counters backend;
  std::string failure;  // empty: none
  std::string ended;    // how the contender's process ended meanwhile; empty: it did not
};

// Why the figures say nothing about the contender; empty: they do.
std::string invalid(const Result& result);

// The load generator or the backend was so late that the figures are theirs. Another attempt may
// find the machine less busy.
bool late(const Result& result);

std::string result_line(const Result& result);
std::string result_text(const Result& result);

}  // namespace spillway::hostile
