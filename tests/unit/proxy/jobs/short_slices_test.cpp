// The slice of a thread, as the kernel tells it.
#include "proxy/jobs/short_slices.hpp"

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <thread>

namespace spillway::proxy {
namespace {

struct Slice {
  int policy = -1, nice = -1;
  std::uint64_t nanoseconds = 0;
};

// Of the calling thread: offsets in the kernel's struct sched_attr.
Slice slice() {
  std::array<char, 48> its{};
  REQUIRE(::syscall(SYS_sched_getattr, 0, its.data(), its.size(), 0) == 0);
  Slice slice;
  std::memcpy(&slice.policy, its.data() + 4, 4);
  std::memcpy(&slice.nice, its.data() + 16, 4);
  std::memcpy(&slice.nanoseconds, its.data() + 24, 8);
  return slice;
}

}  // namespace

TEST_CASE("a thread with short slices keeps its policy and its nice value") {
  Slice before, after;
  std::thread thread([&] {
    // Of this thread only, as Linux has it.
    REQUIRE(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 15) == 0);
    before = slice();
    take_short_slices();
    after = slice();
  });
  thread.join();
  CHECK(after.policy == before.policy);
  CHECK(after.nice == 15);
  const bool is_known = before.nanoseconds != 0;  // from Linux 6.12 on
  CHECK(after.nanoseconds ==
        (is_known && before.policy == SCHED_OTHER ? 100'000 : before.nanoseconds));
}

}  // namespace spillway::proxy
