// The floor: what the disk itself can do.
#pragma once

#include <memory>

#include "bench/jobs/queue.hpp"

namespace spillway::job_bench {

// A file to which all that is outstanding is appended at once, and which is flushed then.
std::unique_ptr<Queue> disk();

}  // namespace spillway::job_bench
