#include "proxy/jobs/short_slices.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace spillway::proxy {

namespace {

constexpr std::uint64_t kSliceNanoseconds = 100'000;

// struct sched_attr of the kernel, as sched_setattr(2) has it, which the C library does not.
struct SchedulingAttributes {
  std::uint32_t size = 0, policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;
};

}  // namespace

void take_short_slices() {
  SchedulingAttributes its;
  if (::syscall(SYS_sched_getattr, 0, &its, sizeof(its), 0) != 0) return;
  if (its.policy != SCHED_OTHER) return;
  its.runtime = kSliceNanoseconds;
  [[maybe_unused]] const long ignored = ::syscall(SYS_sched_setattr, 0, &its, 0);
}

}  // namespace spillway::proxy
