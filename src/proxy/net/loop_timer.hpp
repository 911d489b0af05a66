// Calls a function on the event loop at a point in time: an Asio timer whose cancel() is final.
//
// cancel() of a plain Asio timer, and its destructor, do not stop a handler that is already queued
// because the time has come. Here they do.
//
// Loop thread only, or while the loop does not run.
#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/time.hpp"
#include "proxy/net/event_loop.hpp"

namespace spillway::proxy {

class LoopTimer {
 public:
  // The loop must outlive the timer. The function may set the timer again but not destroy it.
  LoopTimer(EventLoop& loop, std::function<void()> function);
  ~LoopTimer();
  LoopTimer(const LoopTimer&) = delete;
  LoopTimer& operator=(const LoopTimer&) = delete;

  // Replaces the time set before. The function is called once for each time set.
  void set(TimePoint when);
  void cancel();

 private:
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>,
                                                  EventLoop::Executor>;

  EventLoop& loop_;
  std::function<void()> function_;
  Timer timer_;
  // Serial number of the newest set() or cancel(); a handler with an older one does nothing.
  // Shared with the handlers, which may outlive the timer.
  std::shared_ptr<std::uint64_t> serial_ = std::make_shared<std::uint64_t>(0);
};

}  // namespace spillway::proxy
