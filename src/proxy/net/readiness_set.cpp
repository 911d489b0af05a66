#include "proxy/net/readiness_set.hpp"

#include <cerrno>
#include <system_error>

namespace spillway::proxy {

namespace {

int new_epoll() {
  const int descriptor = ::epoll_create1(EPOLL_CLOEXEC);
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), "epoll_create1");
  return descriptor;
}

bool control(int set, int operation, int descriptor, std::uint32_t events, Watcher& watcher) {
  epoll_event event{};
  event.events = events | EPOLLET;
  event.data.ptr = &watcher;
  return ::epoll_ctl(set, operation, descriptor, &event) == 0;
}

}  // namespace

ReadinessSet::ReadinessSet(const Executor& executor) : set_(executor, new_epoll()) {}

bool ReadinessSet::add(int descriptor, std::uint32_t events, Watcher& watcher) {
  return control(set_.native_handle(), EPOLL_CTL_ADD, descriptor, events, watcher);
}

void ReadinessSet::change(int descriptor, std::uint32_t events, Watcher& watcher) {
  control(set_.native_handle(), EPOLL_CTL_MOD, descriptor, events, watcher);
}

void ReadinessSet::remove(int descriptor) {
  ::epoll_ctl(set_.native_handle(), EPOLL_CTL_DEL, descriptor, nullptr);
}

void ReadinessSet::forget(Watcher& watcher) {
  if (watcher.number_ > 0) found_[std::exchange(watcher.number_, 0) - 1].data.ptr = nullptr;
}

void ReadinessSet::look() {
  ++looks_;
  next_ = 0;
  const int got = ::epoll_wait(set_.native_handle(), found_.data(), kLook, 0);
  count_ = static_cast<std::size_t>(std::max(got, 0));  // EINTR: the next wait completes at once
  for (std::uint32_t n = 0; n < count_; ++n)
    static_cast<Watcher*>(found_[n].data.ptr)->number_ = n + 1;
}

}  // namespace spillway::proxy
