// Where a coroutine of the request path waits: for one or two sources of readiness, a deadline,
// or whatever else may wake it (a granted slot, a client that left).
//
// A parked coroutine is always findable and can be woken by anyone on its worker's thread, once;
// that is how one coarse sweep replaces a timer per operation.
#pragma once

#include <coroutine>
#include <cstdint>
#include <utility>

#include "base/time.hpp"

namespace spillway::proxy {

enum class Wake : std::uint8_t {
  ready,        // a source is ready, or the slot's fate is decided
  timeout,      // the deadline passed (seen by the sweep, so up to 50 ms late)
  client_gone,  // the client closed or half-closed its connection
  cancelled,    // whoever waits for this coroutine no longer wants its result
};

class Parking;

// One direction of one socket. Owned by a Stream; wakes the coroutine parked on it.
struct Source {
  Parking* parked = nullptr;
  bool is_ready = false;   // since an edge, until nothing more can be moved
  bool is_wanted = false;  // somebody asked to be told
};

class Parking {
 public:
  Parking() = default;
  Parking(const Parking&) = delete;
  Parking& operator=(const Parking&) = delete;

  struct Awaiter {
    Parking& parking;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> coroutine) noexcept {
      parking.coroutine_ = coroutine;
    }
    Wake await_resume() const noexcept { return parking.why_; }
  };

  // Suspends until a source is ready, the deadline passes or somebody calls wake(). Spurious
  // readiness is possible: callers try their operation again and park once more.
  [[nodiscard]] Awaiter park(TimePoint deadline, Source* first = nullptr,
                             Source* second = nullptr) {
    deadline_ = deadline;
    first_ = first;
    second_ = second;
    if (first_ != nullptr) first_->parked = this;
    if (second_ != nullptr) second_->parked = this;
    return Awaiter{*this};
  }

  bool parked() const { return static_cast<bool>(coroutine_); }
  TimePoint deadline() const { return deadline_; }

  // Resumes the coroutine before it returns; `this` may be gone afterwards.
  void wake(Wake why) {
    if (first_ != nullptr) first_->parked = nullptr;
    if (second_ != nullptr) second_->parked = nullptr;
    first_ = second_ = nullptr;
    deadline_ = kNever;
    why_ = why;
    std::exchange(coroutine_, nullptr).resume();
  }

 private:
  std::coroutine_handle<> coroutine_;
  Source* first_ = nullptr;
  Source* second_ = nullptr;
  TimePoint deadline_ = kNever;
  Wake why_ = Wake::ready;
};

}  // namespace spillway::proxy
