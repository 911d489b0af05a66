// Jobs that go in, are claimed and settled, for a time.
#pragma once

#include <string>

#include "bench/jobs/play.hpp"

namespace spillway::job_bench {

// Of store-postgres (16 jobs a batch) and plain (four connections); of any other contender nothing.
// In four windows: what matters is whether the later ones are slower, above all in pinned-loop,
// while a transaction holds a snapshot, so that nothing that was deleted can be vacuumed.
void measure_loop(const Plan& plan, const std::string& contender, int round, const Record& record,
                  bool (*is_stopped)());

}  // namespace spillway::job_bench
