// Whether a store is as quick with many pending jobs as with none.
#pragma once

#include <string>

#include "bench/jobs/play.hpp"

namespace spillway::job_bench {

// Of store-sqlite and store-postgres; of any other contender nothing. A store is filled by and by.
// At each depth jobs are claimed and settled, as many as go in anew, then a few are put in beyond;
// at last Spillway is started with the store.
void measure_depth(const Plan& plan, const std::string& contender, int round, const Record& record,
                   bool (*is_stopped)());

}  // namespace spillway::job_bench
