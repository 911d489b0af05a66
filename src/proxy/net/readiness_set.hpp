// An Asio I/O object that watches any number of sockets, edge-triggered (epoll(7), EPOLLET).
//
// Asio's own async_wait() costs one epoll_ctl(2) for each wait of each socket. Here a socket is
// registered once for its life and waiting for it costs no system call; the io_context awaits only
// the set, once per loop turn. Price: two more system calls a turn than a bare epoll loop
// (epoll_ctl(2) and a second epoll_wait(2)). With many connections a turn serves many events and
// the difference is within the noise; with a single connection a request costs 8 to 12 % more CPU.
//
// Edge-triggered: after an event the watcher must read or write until EAGAIN.
//
// A look collects what all descriptors have to report; a turn delivers a part of it, so that posted
// work and timers have their turns in between.
#pragma once

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/posix/descriptor_base.hpp>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace spillway::proxy {

// Of a watcher: the event that was collected for it, and is to be delivered.
class PendingEvent {
  friend class ReadinessSet;
  std::uint32_t number_ = 0;  // among those of the last look, from 1; 0: there is none
};

// Receives the events of a descriptor.
class Watcher : public PendingEvent {
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
  void forget(Watcher& watcher);

  // Calls handler(error_code) once there are events to deliver. One wait at a time.
  template <class Handler>
  void async_wait(Handler handler) {
    if (next_ < count_) {
      boost::asio::post(set_.get_executor(), [handler = std::move(handler)]() mutable {
        handler(boost::system::error_code());
      });
      return;
    }
    set_.async_wait(boost::asio::posix::descriptor_base::wait_read, std::move(handler));
  }
  // Calls deliver(watcher, events) for up to kBatch events, of a new look if none is left of the
  // last one. The next async_wait() completes at once if more are left.
  template <class Deliver>
  void deliver_events(Deliver deliver) {
    if (next_ == count_) look();
    for (const std::size_t end = std::min(count_, next_ + kBatch); next_ < end;) {
      const epoll_event& event = found_[next_++];
      if (event.data.ptr == nullptr) continue;
      Watcher& watcher = *static_cast<Watcher*>(event.data.ptr);
      watcher.number_ = 0;
      deliver(watcher, event.events);
    }
  }

  // How often events were collected so far.
  std::uint64_t looks() const { return looks_; }
  // Whether the last look has found nothing of this watcher, or what was found has been delivered.
  // False too if it found as many as it takes, since there may be more.
  bool is_quiet(const Watcher& watcher) const { return count_ < kLook && watcher.number_ == 0; }

  static constexpr std::size_t kBatch = 256;  // of a turn
  static constexpr std::size_t kLook = 4096;  // the most that one look finds

 private:
  void look();

  boost::asio::posix::basic_stream_descriptor<Executor> set_;  // an epoll(7) descriptor
  std::array<epoll_event, kLook> found_;                       // by the last look
  std::size_t next_ = 0;                                       // of found_, to be delivered
  std::size_t count_ = 0;
  std::uint64_t looks_ = 0;
};

}  // namespace spillway::proxy
