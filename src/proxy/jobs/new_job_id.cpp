#include "proxy/jobs/new_job_id.hpp"

#include <array>
#include <cstdint>

#include "proxy/net/random_bytes.hpp"

namespace spillway::proxy {

std::optional<jobs::JobId> new_job_id(jobs::WallTime accepted) {
  std::array<std::uint8_t, 11> random{};
  if (!fill_randomly(random)) return std::nullopt;
  const auto accepted_ms = static_cast<std::uint64_t>(accepted.time_since_epoch().count());
  return jobs::make_job_id(accepted_ms, random);
}

}  // namespace spillway::proxy
