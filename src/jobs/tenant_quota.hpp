// How much of a route's `max_pending` one tenant may use, so that it cannot exclude all others.
#pragma once

#include <cstdint>

namespace spillway::jobs {

// A tenant may have three times as many jobs as there is room left (dynamic thresholds: Choudhury
// and Hahne, IEEE/ACM ToN 1998): one tenant alone gets three quarters, two get three sevenths each.
// A tenant without jobs finds room until about a third as many tenants as `most` have theirs: one
// fills 3, four fill 10. `its` are included in `waiting`.
inline constexpr std::uint64_t kTimesLeft = 3;
constexpr bool tenant_has_room(std::uint64_t its, std::uint64_t waiting, std::uint64_t most) {
  return waiting < most && its < kTimesLeft * (most - waiting);
}

// Until then every tenant has room, and none needs to be counted.
constexpr bool is_room_scarce(std::uint64_t waiting, std::uint64_t most) {
  return !tenant_has_room(waiting, waiting, most);
}

}  // namespace spillway::jobs
