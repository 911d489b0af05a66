#include "proxy/net/loop_timer.hpp"

#include <utility>

namespace spillway::proxy {

LoopTimer::LoopTimer(EventLoop& loop, std::function<void()> function)
    : loop_(loop), function_(std::move(function)), timer_(loop.io().get_executor()) {}

LoopTimer::~LoopTimer() { ++*serial_; }

void LoopTimer::set(TimePoint when) {
  timer_.expires_at(when);
  timer_.async_wait([this, newest = serial_, own = ++*serial_](const boost::system::error_code&) {
    if (*newest != own) return;
    loop_.begin_event();
    function_();
  });
}

void LoopTimer::cancel() {
  ++*serial_;
  timer_.cancel();
}

}  // namespace spillway::proxy
