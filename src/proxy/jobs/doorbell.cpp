#include "proxy/jobs/doorbell.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <system_error>

namespace spillway::proxy {

namespace {

constexpr Duration kLongest = std::chrono::hours(1);

timespec time_left(TimePoint until) {
  using std::chrono::nanoseconds;
  using std::chrono::seconds;
  const Duration left = std::clamp(until - Clock::now(), Duration{0}, kLongest);
  const auto whole = std::chrono::duration_cast<seconds>(left);
  return {
      .tv_sec = static_cast<std::time_t>(whole.count()),
      .tv_nsec = static_cast<long>(std::chrono::duration_cast<nanoseconds>(left - whole).count())};
}

}  // namespace

Doorbell::Doorbell() : descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Doorbell::~Doorbell() { ::close(descriptor_); }

// It cannot fail: the counter is large enough for any number of rings.
void Doorbell::ring() {
  const std::uint64_t once = 1;
  [[maybe_unused]] const ssize_t written = ::write(descriptor_, &once, sizeof(once));
}

void Doorbell::wait(int descriptor, TimePoint until) {
  pollfd watched[] = {{descriptor_, POLLIN, 0}, {descriptor, POLLIN, 0}};
  const timespec left = time_left(until);
  if (::ppoll(watched, descriptor < 0 ? 1 : 2, &left, nullptr) <= 0) return;
  std::uint64_t rings = 0;
  [[maybe_unused]] const ssize_t read = ::read(descriptor_, &rings, sizeof(rings));
}

}  // namespace spillway::proxy
