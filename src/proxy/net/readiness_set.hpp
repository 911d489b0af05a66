// An Asio I/O object that watches any number of sockets, edge-triggered (epoll(7), EPOLLET).
//
// Asio's own async_wait() costs one epoll_ctl(2) for each wait of each socket. Here a socket is
// registered once for its life and waiting for it costs no system call; the io_context awaits only
// the set, once per loop turn. Price: two more system calls a turn than a bare epoll loop
// (epoll_ctl(2) and a second epoll_wait(2)). With many connections a turn serves many events and
// the difference is within the noise; with a single connection a request costs 8 to 12 % more CPU.
//
// Edge-triggered: after an event the watcher must read or write until EAGAIN.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/posix/descriptor_base.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace spillway::proxy {

// Receives the events of a descriptor.
class Watcher {
 public:
  // `events` as in epoll_wait(2), or 0 if the watcher was deferred (EventLoop::defer). May destroy
  // or change any watcher, including itself.
  virtual void on_events(std::uint32_t events) = 0;

 protected:
  ~Watcher() = default;
};

// One thread at a time.
class ReadinessSet {
 public:
  using Executor = boost::asio::io_context::executor_type;

  // Throws std::system_error when the process has no descriptor left.
  explicit ReadinessSet(const Executor& executor);

  // Adds a descriptor. Conditions that already hold are reported, then each new edge. False when
  // the system has no memory or watches left.
  bool add(int descriptor, std::uint32_t events, Watcher& watcher);
  // Replaces the interest set; conditions that already hold are reported again.
  void change(int descriptor, std::uint32_t events, Watcher& watcher);
  // Before the descriptor is closed, which is not enough: a copy of it, such as the one of a
  // process that was forked, would go on to report events.
  void remove(int descriptor);
  // Drops events that were collected for the watcher but not delivered. Call it before the watcher
  // is destroyed.
  void forget(const Watcher& watcher);

  // Calls handler(error_code) once there are events to deliver. One wait at a time.
  template <class Handler>
  void async_wait(Handler handler) {
    set_.async_wait(boost::asio::posix::descriptor_base::wait_read, std::move(handler));
  }
  // Collects up to kBatch events and calls deliver(watcher, events) for each. The next async_wait()
  // completes at once if more are left.
  template <class Deliver>
  void deliver_events(Deliver deliver) {
    collect();
    while (next_ < count_) {
      const epoll_event& event = batch_[next_++];
      if (event.data.ptr != nullptr) deliver(*static_cast<Watcher*>(event.data.ptr), event.events);
    }
  }

  // How often events were collected so far.
  std::uint64_t looks() const { return looks_; }
  // Whether the last look has found nothing of this watcher, or what was found has been delivered.
  // False too if it found as many as it takes, since there may be more.
  bool is_quiet(const Watcher& watcher) const;

  static constexpr std::size_t kBatch = 256;

 private:
  void collect();

  boost::asio::posix::basic_stream_descriptor<Executor> set_;  // an epoll(7) descriptor
  std::array<epoll_event, kBatch> batch_;
  std::size_t next_ = 0;  // of batch_, to be delivered
  std::size_t count_ = 0;
  std::uint64_t looks_ = 0;
};

}  // namespace spillway::proxy
