#include "support/event.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace spillway::support {

int Deadline::left() const {
  const auto left = end_ - std::chrono::steady_clock::now();
  return static_cast<int>(std::max(Milliseconds{0}, std::chrono::ceil<Milliseconds>(left)).count());
}

bool wait_ready(int descriptor, short events, const Deadline& deadline) {
  for (;;) {
    pollfd ready{descriptor, events, 0};
    const int count = ::poll(&ready, 1, deadline.left());
    if (count > 0) return true;
    if (count == 0 || errno != EINTR) return false;
  }
}

Event::Event() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Event::~Event() { ::close(descriptor_); }

void Event::set() {
  happened_.store(true, std::memory_order_release);
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(descriptor_, &one, sizeof one);
}

bool Event::wait(Milliseconds within) const {
  return wait_ready(descriptor_, POLLIN, Deadline(within)) &&
         happened_.load(std::memory_order_acquire);
}

}  // namespace spillway::support
