#include "proxy/jobs/new_job_id.hpp"

#include <sys/random.h>

#include <array>
#include <cstdint>

namespace spillway::proxy {

std::optional<jobs::JobId> new_job_id(jobs::WallTime accepted) {
  std::array<std::uint8_t, 11> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    return std::nullopt;
  const auto accepted_ms = static_cast<std::uint64_t>(accepted.time_since_epoch().count());
  return jobs::make_job_id(accepted_ms, random);
}

}  // namespace spillway::proxy
