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
// Work in progress does not wait: a turn delivers all events that a coroutine waits for, such as
// those of responses and of the rest of a head, and only some of the others, such as those of new
// requests. So if there are more connections than the thread can keep up with, it is new requests
// that wait: they hold no memory and no upstream connection yet, and requests in progress end while
// their data is still in the CPU's caches. Posted work and timers get their turns in between, so
// neither shows that wait: oldest_wait() does.
#pragma once

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/posix/descriptor_base.hpp>
#include <boost/asio/post.hpp>
#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/time.hpp"

namespace spillway::proxy {

// Part of a watcher: the event that was found for it and has yet to be delivered.
class PendingEvent {
  friend class ReadinessSet;
  using Hook = boost::intrusive::list_member_hook<
      boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
  Hook hook_;
  std::uint32_t events_ = 0;
  std::uint32_t found_ms_ = 0;  // time of the look that found it, by the clock, modulo 2^32
};

// Receives the events of a descriptor.
class Watcher : public PendingEvent {
 public:
  // `events` as in epoll_wait(2), or 0 if the watcher was deferred (EventLoop::defer). May destroy
  // or change any watcher, including itself.
  virtual void on_events(std::uint32_t events) = 0;
  // Work in progress waits for its events: a turn delivers all of them.
  virtual bool is_awaited() const { return false; }

 protected:
  ~Watcher() = default;
};

// One thread at a time.
class ReadinessSet {
 public:
  using Executor = boost::asio::io_context::executor_type;

  // Throws std::system_error if the process has no descriptor left.
  explicit ReadinessSet(const Executor& executor);

  // Adds a descriptor. Conditions that already hold are reported, then each new edge. False if the
  // system has no memory or watches left.
  bool add(int descriptor, std::uint32_t events, Watcher& watcher);
  // Replaces the interest set; conditions that already hold are reported again.
  void change(int descriptor, std::uint32_t events, Watcher& watcher);
  // Call it before the descriptor is closed. Closing is not enough: a copy of it, such as that of a
  // forked process, would go on to report events.
  void remove(int descriptor);
  // From now on the watcher is awaited: an event already found for it does not wait behind the
  // others.
  void hurry(Watcher& watcher);
  // Drops the event that was found for the watcher but not delivered. The watcher's destructor does
  // so too.
  void forget(Watcher& watcher);

  // Calls handler(error_code) once there are events to deliver. One wait at a time.
  template <class Handler>
  void async_wait(Handler handler) {
    if (!others_.empty() || !awaited_.empty()) {
      boost::asio::post(set_.get_executor(), [handler = std::move(handler)]() mutable {
        handler(boost::system::error_code());
      });
      return;
    }
    set_.async_wait(boost::asio::posix::descriptor_base::wait_read, std::move(handler));
  }
  // Looks for events, and calls deliver(watcher, events) for all that are awaited and some of the
  // others, oldest first. The next async_wait() completes at once if some of those are left.
  // `besides`: how often work in progress has run since the last look other than for an event.
  // `now`: the clock, which is read once, and only if events may be left.
  template <class Now, class Deliver>
  void deliver_events(std::size_t besides, Now now, Deliver deliver) {
    Found found;
    const std::size_t count = look(found);
    const bool may_leave = !others_.empty() || count > kOthers;
    const std::size_t awaited = sort(found, count, may_leave ? milliseconds(now()) : 0);
    // The others first: of two upstream connections the one that has been looked at since its
    // response should be used again, not the one whose response has just come.
    for (std::size_t n = std::max(kOthers, (awaited + besides) / 3); n > 0 && !others_.empty(); --n)
      deliver_first(others_, deliver);
    while (!awaited_.empty()) deliver_first(awaited_, deliver);
  }

  // How often it has looked for events so far.
  std::uint64_t looks() const { return looks_; }
  // Whether the last look found nothing for this watcher, or what it found has been delivered.
  // False too if it found as many events as it takes, since there may be more.
  bool is_quiet(const Watcher& watcher) const { return found_all_ && !has_event(watcher); }
  // Whether an event was found for this watcher and has not been delivered yet.
  bool has_event(const Watcher& watcher) const { return watcher.hook_.is_linked(); }
  // How long the oldest event that was found has not been delivered, to a millisecond; 0 if all
  // have been. Between two turns this is the wait of new requests.
  Duration oldest_wait(TimePoint now) const {
    if (others_.empty()) return Duration{0};
    return std::chrono::milliseconds(milliseconds(now) - others_.front().found_ms_);
  }

  // A turn delivers this many events not awaited; or a third of what work in progress takes, if
  // that is more, so tunnels, or pipelined requests, leave a quarter to new requests.
  static constexpr std::size_t kOthers = 32;
  static constexpr std::size_t kLook = 256;  // the most events that one look finds

 private:
  using Events = boost::intrusive::list<
      PendingEvent,
      boost::intrusive::member_hook<PendingEvent, PendingEvent::Hook, &PendingEvent::hook_>,
      boost::intrusive::constant_time_size<false>>;

  using Found = std::array<epoll_event, kLook>;

  static std::uint32_t milliseconds(TimePoint now) {
    return static_cast<std::uint32_t>(
        std::chrono::floor<std::chrono::milliseconds>(now.time_since_epoch()).count());
  }

  std::size_t look(Found& found);  // returns how many it found
  std::size_t sort(const Found& found, std::size_t count, std::uint32_t found_ms);  // awaited ones
  template <class Deliver>
  static void deliver_first(Events& events, Deliver& deliver) {
    PendingEvent& event = events.front();
    events.pop_front();
    deliver(static_cast<Watcher&>(event), std::exchange(event.events_, 0));
  }

  boost::asio::posix::basic_stream_descriptor<Executor> set_;  // an epoll(7) descriptor
  Events awaited_;                                             // found, all for the next turn
  Events others_;                                              // found, some for the next turn
  std::uint64_t looks_ = 0;
  bool found_all_ = true;  // in the last look
};

}  // namespace spillway::proxy
