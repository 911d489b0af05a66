// An eventfd(2) watched by an event loop: each ring() is an edge.
#pragma once

#include <doctest/doctest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <functional>
#include <utility>

#include "proxy/net/event_loop.hpp"

namespace spillway::proxy {

class Bell final : public Watcher {
 public:
  // Not watched yet.
  explicit Bell(std::function<void()> heard)
      : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), heard_(std::move(heard)) {
    REQUIRE(descriptor_ >= 0);
  }
  Bell(EventLoop& loop, std::function<void()> heard) : Bell(std::move(heard)) {
    REQUIRE(loop.watch(descriptor_, EPOLLIN, *this));
  }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;
  ~Bell() { ::close(descriptor_); }

  void ring() const { ::eventfd_write(descriptor_, 1); }
  int descriptor() const { return descriptor_; }
  void on_events(std::uint32_t) override { heard_(); }
  bool is_awaited() const override { return awaited; }
  bool awaited = false;

 private:
  int descriptor_;
  std::function<void()> heard_;
};

}  // namespace spillway::proxy
