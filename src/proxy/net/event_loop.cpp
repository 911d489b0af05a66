#include "proxy/net/event_loop.hpp"

#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace spillway::proxy {

namespace {

int checked(int descriptor, const char* what) {
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), what);
  return descriptor;
}

}  // namespace

EventLoop::EventLoop()
    : epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;  // never read: each write is an edge
  event.data.ptr = nullptr;
  if (wakeup_ < 0 || ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wakeup_, &event) != 0) {
    const int error = errno;
    if (wakeup_ >= 0) ::close(wakeup_);
    ::close(epoll_);
    throw std::system_error(error, std::generic_category(), "eventfd");
  }
}

EventLoop::~EventLoop() {
  discard();
  ::close(wakeup_);
  ::close(epoll_);
}

void EventLoop::run() {
  thread_ = std::this_thread::get_id();
  while (!stopped_.load(std::memory_order_relaxed)) round(true);
}

void EventLoop::poll() {
  thread_ = std::this_thread::get_id();
  do {
    round(false);
  } while (!soon_.empty() || newest_.load(std::memory_order_relaxed) != nullptr);
}

void EventLoop::round(bool may_wait) {
  run_posted();
  tell_those_soon();
  const bool idle = soon_.empty() && newest_.load(std::memory_order_relaxed) == nullptr;
  wait(idle && may_wait ? -1 : 0);
}

void EventLoop::discard() {
  for (Posted* posted = take_posted(); posted != nullptr;)
    std::exchange(posted, posted->next_)->discard();
}

void EventLoop::stop() {
  stopped_ = true;
  ::eventfd_write(wakeup_, 1);
}

// The loop looks for what is posted before it waits. So only the first of a batch wakes it, and
// only from another thread.
void EventLoop::post(Posted& posted) {
  Posted* newest = newest_.load(std::memory_order_relaxed);
  do {
    posted.next_ = newest;
  } while (!newest_.compare_exchange_weak(newest, &posted, std::memory_order_release,
                                          std::memory_order_relaxed));
  if (newest == nullptr && !is_own_thread()) ::eventfd_write(wakeup_, 1);
}

// In the order in which they were posted.
Posted* EventLoop::take_posted() {
  Posted* ordered = nullptr;
  for (Posted* posted = newest_.exchange(nullptr, std::memory_order_acquire); posted != nullptr;) {
    Posted* const older = std::exchange(posted->next_, ordered);
    ordered = std::exchange(posted, older);
  }
  return ordered;
}

// What is posted meanwhile has its turn after the connections.
void EventLoop::run_posted() {
  if (newest_.load(std::memory_order_relaxed) == nullptr) return;
  for (Posted* posted = take_posted(); posted != nullptr;) {
    has_time_ = false;
    std::exchange(posted, posted->next_)->run();
  }
}

void EventLoop::tell_those_soon() {
  if (soon_.empty()) return;
  told_.swap(soon_);
  for (Watcher*& watcher : told_) {
    has_time_ = false;
    if (watcher != nullptr) std::exchange(watcher, nullptr)->on_events(0);
  }
  told_.clear();
}

void EventLoop::wait(int timeout) {
  event_count_ = ::epoll_wait(epoll_, events_.data(), kMostEvents, timeout);
  for (next_event_ = 0; next_event_ < event_count_;) {
    const epoll_event& event = events_[static_cast<std::size_t>(next_event_++)];
    has_time_ = false;
    if (event.data.ptr != nullptr) static_cast<Watcher*>(event.data.ptr)->on_events(event.events);
  }
  event_count_ = 0;
}

bool EventLoop::watch(int descriptor, std::uint32_t events, Watcher& watcher) {
  epoll_event event{};
  event.events = events | EPOLLET;
  event.data.ptr = &watcher;
  return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void EventLoop::change(int descriptor, std::uint32_t events, Watcher& watcher) {
  epoll_event event{};
  event.events = events | EPOLLET;
  event.data.ptr = &watcher;
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, descriptor, &event);
}

void EventLoop::forget(const Watcher& watcher) {
  for (int i = next_event_; i < event_count_; ++i) {
    epoll_event& event = events_[static_cast<std::size_t>(i)];
    if (event.data.ptr == &watcher) event.data.ptr = nullptr;
  }
  std::erase(soon_, &watcher);
  std::replace(told_.begin(), told_.end(), const_cast<Watcher*>(&watcher),
               static_cast<Watcher*>(nullptr));
}

LoopTimer::LoopTimer(EventLoop& loop, Function function, void* owner)
    : loop_(loop),
      function_(function),
      owner_(owner),
      descriptor_(checked(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
                          "timerfd_create")) {
  if (!loop_.watch(descriptor_, EPOLLIN, *this)) {
    const int error = errno;
    ::close(descriptor_);
    throw std::system_error(error, std::generic_category(), "epoll_ctl");
  }
}

LoopTimer::~LoopTimer() {
  loop_.forget(*this);
  ::close(descriptor_);
}

void LoopTimer::set(TimePoint when) {
  // A time of zero would disarm it.
  const auto since = std::max<Duration>(when.time_since_epoch(), std::chrono::nanoseconds{1});
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  itimerspec at{};
  at.it_value.tv_sec = seconds.count();
  at.it_value.tv_nsec = std::chrono::nanoseconds(since - seconds).count();
  ::timerfd_settime(descriptor_, TFD_TIMER_ABSTIME, &at, nullptr);
  set_ = true;
}

void LoopTimer::cancel() {
  const itimerspec never{};
  ::timerfd_settime(descriptor_, 0, &never, nullptr);
  set_ = false;
}

// Never read: each expiry is an edge. One that was seen before set() came is left over.
void LoopTimer::on_events(std::uint32_t) {
  if (std::exchange(set_, false)) function_(owner_);
}

}  // namespace spillway::proxy
