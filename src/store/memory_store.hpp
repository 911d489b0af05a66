// A job store in memory, for tests and for trying things out. Nothing survives the process.
#pragma once

#include <memory>

#include "store/contract/job_store.hpp"

namespace spillway::store {

std::unique_ptr<JobStore> open_memory();

}  // namespace spillway::store
