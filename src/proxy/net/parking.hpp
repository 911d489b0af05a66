// The place where a coroutine of the request path is suspended: until one of up to two sockets is
// ready, a deadline passes, or another event wakes it (a letter, a client that left).
//
// Anything on the worker's thread can wake a parked coroutine, once. So one coarse sweep replaces a
// timer per operation.
#pragma once

#include <coroutine>
#include <cstdint>
#include <utility>

#include "base/time.hpp"

namespace spillway::proxy {

enum class Wake : std::uint8_t {
  ready,        // a source is ready, or a letter was delivered (mailbox.hpp)
  timeout,      // the deadline passed (seen by the sweep, so up to 50 ms late)
  client_gone,  // the client closed or half-closed its connection
  cancelled,    // the result of this coroutine is no longer wanted
};

// Events that end a wait, besides readiness.
struct Until {
  TimePoint deadline = kNever;
  bool client_gone = false;  // a client that leaves ends it too; the sweep checks for that
};

class Parking;

// One direction of one socket. Owned by a Stream; wakes the coroutine parked on it.
struct Source {
  Parking* parked = nullptr;
  bool is_ready = false;   // from an edge until an operation would block
  bool is_wanted = false;  // an event should be reported
};

// An operation that would block. It is retried each time its source is ready, and its coroutine
// resumes only when it is done: spurious readiness wakes nothing.
class Retry {
 public:
  virtual bool try_again() = 0;  // true: it has succeeded or failed

 protected:
  ~Retry() = default;
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

  // Suspends until a source is ready, `until` ends the wait, or wake() is called. Readiness may be
  // spurious: try the operation, and park again.
  [[nodiscard]] Awaiter park(Until until, Source* first = nullptr, Source* second = nullptr) {
    wait_for(until, first, second, nullptr);
    return Awaiter{*this};
  }

  // The same for an operation on one source (transfer.hpp).
  void suspend(std::coroutine_handle<> coroutine, Until until, Source& source, Retry& operation) {
    wait_for(until, &source, nullptr, &operation);
    coroutine_ = coroutine;
  }

  bool parked() const { return static_cast<bool>(coroutine_); }
  TimePoint deadline() const { return until_.deadline; }
  // The wait ends if the client leaves.
  bool watches_client() const { return parked() && until_.client_gone; }
  Wake why() const { return why_; }

  // The source has become ready.
  void on_ready(Source& source) {
    if (operation_ != nullptr && !operation_->try_again()) {
      source.is_wanted = true;
      return;
    }
    wake(Wake::ready);
  }

  // Resumes the coroutine before it returns; `this` may be destroyed by then.
  void wake(Wake why) {
    if (first_ != nullptr) first_->parked = nullptr;
    if (second_ != nullptr) second_->parked = nullptr;
    first_ = second_ = nullptr;
    operation_ = nullptr;
    until_ = {};
    why_ = why;
    std::exchange(coroutine_, nullptr).resume();
  }

 private:
  void wait_for(Until until, Source* first, Source* second, Retry* operation) {
    until_ = until;
    first_ = first;
    second_ = second;
    operation_ = operation;
    if (first_ != nullptr) first_->parked = this;
    if (second_ != nullptr) second_->parked = this;
  }

  std::coroutine_handle<> coroutine_;
  Source* first_ = nullptr;
  Source* second_ = nullptr;
  Retry* operation_ = nullptr;
  Until until_;
  Wake why_ = Wake::ready;
};

}  // namespace spillway::proxy
