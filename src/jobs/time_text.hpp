// Times of jobs as text (base/time_text.hpp).
#pragma once

#include "base/time_text.hpp"
#include "jobs/job.hpp"

namespace spillway::jobs {

using spillway::parse_time;
using spillway::to_text;

}  // namespace spillway::jobs
