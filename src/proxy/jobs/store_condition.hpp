// Whether the store takes writes, and if not, why; whether other proxies change it. Written by the
// store's thread, read by workers.
#pragma once

#include <atomic>

#include "base/reason.hpp"
#include "base/time.hpp"
#include "proxy/jobs/store_call.hpp"
#include "store/contract/failure.hpp"

namespace spillway::proxy {

inline Reason reason_of(const store::Failure& failure) {
  return failure.kind == store::Failure::Kind::full ? Reason::store_full
                                                    : Reason::store_unavailable;
}

// An executed call that proves that there was space for a job or for the end of one.
inline bool has_taken_space(const StoreCall* call) {
  if (const auto* const enqueue = std::get_if<store::Enqueue>(&call->command))
    return enqueue->result == store::Enqueue::Result::accepted;
  if (const auto* const settle = std::get_if<store::Settle>(&call->command))
    return !settle->is_lost;
  return std::holds_alternative<store::Bury>(call->command);
}

class StoreCondition {
 public:
  // The store's thread is at the store for longer: it is unknown when new calls would be written.
  // The store's own timeout is longer, since a call that it gives up may still be executed.
  static constexpr Milliseconds kLongestTurn{1000};

  // The last call was executed.
  bool is_available() const { return is_available_.load(std::memory_order_relaxed); }
  bool hangs(TimePoint now) const {
    const Duration::rep since = busy_since_.load(std::memory_order_relaxed);
    return since != kIdle && now - TimePoint(Duration(since)) > kLongestTurn;
  }
  // Other proxies change jobs in it too.
  bool is_shared() const { return is_shared_.load(std::memory_order_relaxed); }
  // It uses as much space as it may.
  bool is_full() const { return is_full_.load(std::memory_order_relaxed); }
  // Why it takes no writes: the last failure, until a write succeeds. A full disk can be read, so
  // reads do not count.
  Reason reason() const { return reason_.load(std::memory_order_relaxed); }

  void opened() { is_available_.store(true); }
  void share() { is_shared_.store(true, std::memory_order_relaxed); }
  // A call to the store begins; has ended.
  void begin(TimePoint now) {
    busy_since_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  }
  void end() { busy_since_.store(kIdle, std::memory_order_relaxed); }
  void measured(bool is_full) { is_full_.store(is_full, std::memory_order_relaxed); }
  void succeeded(bool has_written) {
    is_available_.store(true, std::memory_order_relaxed);
    if (has_written) reason_.store(Reason::store_unavailable, std::memory_order_relaxed);
  }
  // False: it had already failed before.
  bool failed(const store::Failure& failure) {
    reason_.store(reason_of(failure), std::memory_order_relaxed);
    return is_available_.exchange(false);
  }

 private:
  static constexpr Duration::rep kIdle = TimePoint::min().time_since_epoch().count();

  std::atomic<bool> is_available_{false};
  std::atomic<bool> is_shared_{false};
  std::atomic<Duration::rep> busy_since_{kIdle};
  std::atomic<bool> is_full_{false};
  std::atomic<Reason> reason_{Reason::store_unavailable};
};

}  // namespace spillway::proxy
