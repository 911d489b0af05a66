#include "proxy/exchange/send_rate_monitor.hpp"

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <utility>

namespace spillway::proxy {

namespace {

// Bytes sent but not acknowledged; 0 if the socket is broken, which the next send reports.
std::uint64_t unacknowledged(int socket) {
  int bytes = 0;
  return ::ioctl(socket, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<std::uint64_t>(bytes)
                                                             : 0;
}

}  // namespace

void SendRateMonitor::begin(std::uint64_t min_rate, Duration idle_timeout) {
  rate_ = resilience::MinRate(min_rate, kRateGrace, idle_timeout);
  idle_timeout_ = idle_timeout;
  has_waited_ = false;
  untaken_ = 0;
  idle_until_ = kNever;
}

bool SendRateMonitor::look(int socket, TimePoint now) {
  const std::uint64_t left = unacknowledged(socket);
  const std::uint64_t before = std::exchange(untaken_, left);
  if (left >= before) return false;
  rate_.moved(before - left, now);
  return true;
}

void SendRateMonitor::wait(int socket, TimePoint now) {
  // Bytes acknowledged before the first wait count in the client's favour. (Fewer than were, if the
  // socket still holds earlier responses.)
  if (!std::exchange(has_waited_, true)) look(socket, now);
  rate_.begin_turn(now);
  idle_until_ = now + idle_timeout_;
}

void SendRateMonitor::stop(TimePoint now) {
  rate_.end_turn(now);
  idle_until_ = kNever;
}

TimePoint SendRateMonitor::deadline() const { return std::min(rate_.deadline(), idle_until_); }

SendRateMonitor::Verdict SendRateMonitor::judge(int socket, TimePoint now) {
  if (look(socket, now)) idle_until_ = now + idle_timeout_;
  if (rate_.deadline() <= now) return Verdict::too_slow;
  return idle_until_ <= now ? Verdict::idle : Verdict::fast_enough;
}

}  // namespace spillway::proxy
