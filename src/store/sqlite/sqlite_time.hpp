// Times as column values: milliseconds since 1970.
#pragma once

#include <chrono>
#include <cstdint>

#include "jobs/job.hpp"

namespace spillway::store {

inline std::int64_t number_of(jobs::WallTime time) { return time.time_since_epoch().count(); }
inline jobs::WallTime time_of(std::int64_t number) {
  return jobs::WallTime(std::chrono::milliseconds(number));
}

}  // namespace spillway::store
