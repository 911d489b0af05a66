// How much of a route's `max_pending` one tenant may take, so that it cannot keep out all others.
#pragma once

#include <cstdint>

namespace spillway::jobs {

// A tenant's jobs may be three times what is left (dynamic thresholds: Choudhury and Hahne,
// IEEE/ACM ToN 1998): one tenant alone has three quarters, two have three sevenths each. There is
// room for one that has none until about a third as many tenants as `most` have theirs: one fills
// 3, four fill 10. `its` are among those `waiting`.
inline constexpr std::uint64_t kTimesLeft = 3;
constexpr bool tenant_has_room(std::uint64_t its, std::uint64_t waiting, std::uint64_t most) {
  return waiting < most && its < kTimesLeft * (most - waiting);
}

// Until then each has room, and none has to be counted.
constexpr bool is_room_scarce(std::uint64_t waiting, std::uint64_t most) {
  return !tenant_has_room(waiting, waiting, most);
}

}  // namespace spillway::jobs
