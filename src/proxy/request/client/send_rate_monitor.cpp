#include "proxy/request/client/send_rate_monitor.hpp"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace spillway::proxy {

namespace {

// Bytes sent but not acknowledged; 0 if the socket is broken, which the next send will report.
std::uint64_t unacknowledged(int socket) {
  int bytes = 0;
  return ::ioctl(socket, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<std::uint64_t>(bytes)
                                                             : 0;
}

// Bytes that wait for room in the client's receive window, or in the congestion window.
bool has_unsent(int socket) {
  int bytes = 0;
  return ::ioctl(socket, SIOCOUTQNSD, &bytes) == 0 && bytes > 0;
}

// While the client's receive window is closed nothing is in flight except probes. If the kernel
// does not report, the client gets the benefit of the doubt.
resilience::Taking taking(int socket, std::uint64_t left, Duration still) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  const bool is_waiting = has_unsent(socket);  // behind a closed window something always waits
  return {.left = left,
          .is_in_flight = info.tcpi_unacked > 0 || !is_waiting,
          .is_window_full = info.tcpi_unacked < info.tcpi_snd_cwnd && is_waiting,
          .round_trip = std::chrono::microseconds(info.tcpi_rtt),
          .still = still};
}

}  // namespace

void SendRateMonitor::begin(const config::Limits& limits) {
  rate_ = resilience::MinRate(limits.min_rate_bytes, kRateGrace, limits.idle_timeout);
  slot_rate_ = slot_rate(limits);
  // Until it is known how scarce slots are. Bytes taken until then count too.
  slot_terms_ = resilience::slot_terms(limits.slot_rate_bytes, Duration{}, {});
  pause_ = {};
  keeps_slot_waiting_ = false;
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
  pause_.took(before - left, slot_terms_);
  space_rate_.moved(before - left, now);
  still_since_ = now;
  if (idle_until_ != kNever) idle_until_ = now + idle_timeout_;
}

void SendRateMonitor::wait(int socket, TimePoint now, ItsSlot its_slot) {
  if (still_since_ == kNever) {
    still_since_ = now;
  } else if (idle_until_ == kNever) {
    still_since_ += now - stopped_;  // the client had nothing to take meanwhile
  }
  // Bytes acknowledged before the first wait count in the client's favour. (Fewer than were
  // acknowledged, if the socket still holds earlier responses.)
  if (!std::exchange(has_waited_, true)) look(socket, now);
  rate_.begin_turn(now);
  keeps_slot_waiting_ = its_slot == ItsSlot::waits_too;
  keeps_slot_waiting_ ? slot_rate_.begin_turn(now) : slot_rate_.end_turn(now);
  if (!keeps_slot_waiting_) pause_.end_round();
  space_rate_.begin_turn(now);
  idle_until_ = now + idle_timeout_;
}

void SendRateMonitor::stop(TimePoint now) {
  if (idle_until_ != kNever) stopped_ = now;
  rate_.end_turn(now);
  slot_rate_.end_turn(now);
  keeps_slot_waiting_ = false;
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

// First credits what the client has taken, under the former terms: credited later, it would buy
// time under the new ones.
void SendRateMonitor::set_slot_terms(const resilience::SlotTerms& terms, int socket,
                                     TimePoint now) {
  if (terms != slot_terms_) look(socket, now);
  slot_terms_ = terms;
  slot_rate_.change(terms.rate, terms.max_credit, now);
}

const resilience::SlotPause& SendRateMonitor::look_for_pause(Duration waited, int socket,
                                                             TimePoint now) {
  look(socket, now);
  const resilience::Taking its = taking(socket, untaken_, now - still_since_);
  pause_.look(resilience::paused_for(its), waited, slot_terms_, now);
  return pause_;
}

bool SendRateMonitor::earns_space(int socket, TimePoint now) {
  look(socket, now);
  return space_rate_.deadline() > now;
}

}  // namespace spillway::proxy
