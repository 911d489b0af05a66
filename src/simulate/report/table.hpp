// A run as text: a table that grows by one line per second, and a summary at the end.
//
// Every line of a table has the same length: up to three classes fit in 120 columns, more classes
// get narrower columns (counts above 9999 as "12k"). Names and reasons are UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "simulate/recording/recording.hpp"

namespace spillway::simulate {

// Two lines: the classes, and the column headings; with `jobs` also a last column for the deferred
// requests that are pending. Ends with a line break.
std::string header(const std::vector<std::string>& classes, bool jobs = false);

// The line of one second (counted from 0): state, queue depth at its end, p95 and, for each class,
// the requests offered, admitted, degraded and denied. Ends with a line break.
std::string line(std::size_t second, const Second& recorded, bool jobs = false);

// The same for two runs of the same traffic side by side: with shedding or deferral, then without.
// Queue depth and p95 of both; for each class the requests offered (with shedding: retries depend
// on the answers) and those served in that second by either.
std::string compare_header(const std::vector<std::string>& classes, bool jobs = false);
std::string compare_line(std::size_t second, const Second& with, const Second& without,
                         bool jobs = false);

// The end of a run after the warm-up: each class, the totals, the time per state, the deferred
// requests, the transitions and the tenants. With `without`, the same traffic without shedding or
// deferral is shown beside it: line below line for each class, column beside column otherwise.
std::string summary(const Recording& with, const Recording* without);

}  // namespace spillway::simulate
