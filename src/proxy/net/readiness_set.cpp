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
  watcher.hook_.unlink();
  watcher.events_ = 0;
}

std::size_t ReadinessSet::look(Found& found) {
  ++looks_;
  const int got = ::epoll_wait(set_.native_handle(), found.data(), kLook, 0);
  found_all_ = got >= 0 && got < static_cast<int>(kLook);
  return static_cast<std::size_t>(std::max(got, 0));
}

void ReadinessSet::hurry(Watcher& watcher) {
  if (!watcher.hook_.is_linked()) return;
  watcher.hook_.unlink();
  awaited_.push_back(watcher);
}

std::size_t ReadinessSet::sort(const Found& found, std::size_t count, std::uint32_t found_ms) {
  std::size_t awaited = 0;
  for (std::size_t n = 0; n < count; ++n) {
    Watcher& watcher = *static_cast<Watcher*>(found[n].data.ptr);
    watcher.events_ |= found[n].events;
    if (watcher.is_awaited()) {
      watcher.hook_.unlink();  // it may have waited among others_
      awaited_.push_back(watcher);
      ++awaited;
    } else if (!watcher.hook_.is_linked()) {
      watcher.found_ms_ = found_ms;
      others_.push_back(watcher);
    }
  }
  return awaited;
}

}  // namespace spillway::proxy
