// Ids of new jobs, from the system's secure random numbers.
#pragma once

#include <optional>

#include "jobs/job.hpp"

namespace spillway::proxy {

// nullopt: the system has no random numbers now.
std::optional<jobs::JobId> new_job_id(jobs::WallTime accepted);

}  // namespace spillway::proxy
