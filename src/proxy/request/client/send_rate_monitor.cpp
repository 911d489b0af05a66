#include "proxy/request/client/send_rate_monitor.hpp"

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

void SendRateMonitor::begin(const config::Limits& limits) {
  rate_ = resilience::MinRate(limits.min_rate_bytes, kRateGrace, limits.idle_timeout);
  slot_rate_ = slot_rate(limits);
  slot_terms_ = {};
  space_rate_ = space_rate();
  idle_timeout_ = limits.idle_timeout;
  has_waited_ = false;
  untaken_ = 0;
  idle_until_ = still_since_ = kNever;
}

void SendRateMonitor::look(int socket, TimePoint now) {
  const std::uint64_t left = unacknowledged(socket);
  const std::uint64_t before = std::exchange(untaken_, left);
  if (left >= before) return;
  rate_.moved(before - left, now);
  slot_rate_.moved(before - left, now);
  space_rate_.moved(before - left, now);
  still_since_ = now;
  if (idle_until_ != kNever) idle_until_ = now + idle_timeout_;
}

void SendRateMonitor::wait(int socket, TimePoint now) {
  if (still_since_ == kNever) {
    still_since_ = now;
  } else if (idle_until_ == kNever) {
    still_since_ += now - stopped_;  // it had nothing to take
  }
  // Bytes acknowledged before the first wait count in the client's favour. (Fewer than were, if the
  // socket still holds earlier responses.)
  if (!std::exchange(has_waited_, true)) look(socket, now);
  rate_.begin_turn(now);
  slot_rate_.begin_turn(now);
  space_rate_.begin_turn(now);
  idle_until_ = now + idle_timeout_;
}

void SendRateMonitor::stop(TimePoint now) {
  if (idle_until_ != kNever) stopped_ = now;
  rate_.end_turn(now);
  slot_rate_.end_turn(now);
  space_rate_.end_turn(now);
  idle_until_ = kNever;
}

TimePoint SendRateMonitor::deadline() const { return std::min(rate_.deadline(), idle_until_); }

SendRateMonitor::Verdict SendRateMonitor::judge(int socket, TimePoint now) {
  look(socket, now);
  if (rate_.deadline() <= now) return Verdict::too_slow;
  return idle_until_ <= now ? Verdict::idle : Verdict::fast_enough;
}

TimePoint SendRateMonitor::still_since(int socket, TimePoint now) {
  if (idle_until_ == kNever) return kNever;
  look(socket, now);
  return still_since_;
}

// First credits what the client has taken under the former terms: credited later, it would buy time
// under the new ones.
void SendRateMonitor::set_slot_terms(const resilience::SlotTerms& terms, int socket,
                                     TimePoint now) {
  if (terms != std::exchange(slot_terms_, terms)) look(socket, now);
  slot_rate_.change(terms.rate, terms.max_credit, now);
}

bool SendRateMonitor::earns_slot(int socket, TimePoint now) {
  look(socket, now);
  return slot_rate_.deadline() > now;
}

bool SendRateMonitor::earns_space(int socket, TimePoint now) {
  look(socket, now);
  return space_rate_.deadline() > now;
}

}  // namespace spillway::proxy
