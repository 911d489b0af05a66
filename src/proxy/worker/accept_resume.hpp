// Shared by the listener and the workers while accepting is blocked for lack of room: how many
// connections wait to be accepted, how many open ones are about to end to make room for them, and
// that a client connection has ended, which resumes accepting.
//
// The listener calls wait() and then counts the connections again; a worker decrements its count
// and then calls connection_closed(). All of this is sequentially consistent, so at least one of
// the two sees what the other did and no wake-up is lost.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

namespace spillway::proxy {

class AcceptResume {
 public:
  // Sets the function that connection_closed() calls, on its caller's thread, once for each wait().
  // To be called before other threads run.
  void on_connection_closed(std::function<void()> resume) { resume_ = std::move(resume); }

  // Thread-safe:
  // That many connections, at least one, wait to be accepted and cannot be.
  void wait(std::uint32_t newcomers) {
    newcomers_.store(newcomers, std::memory_order_relaxed);
    is_waiting_.store(true);
  }
  // False: there was no wait(), or it is over.
  bool stop_waiting() { return is_waiting_.exchange(false); }
  void none_waits() { newcomers_.store(0, std::memory_order_relaxed); }

  // Some of the newcomers have no place promised to them.
  bool needs_room() const {
    return promised_.load(std::memory_order_relaxed) < newcomers_.load(std::memory_order_relaxed);
  }
  // One connection is about to end to make room for a newcomer. False: enough are.
  bool promise_place() {
    std::uint32_t promised = promised_.load(std::memory_order_relaxed);
    while (promised < newcomers_.load(std::memory_order_relaxed)) {
      if (promised_.compare_exchange_weak(promised, promised + 1, std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  // Its end takes too long, so another one may end instead.
  void withdraw_promise() { promised_.fetch_sub(1, std::memory_order_relaxed); }
  // `was_promised`: it ended for a newcomer, which will soon be accepted.
  void connection_closed(bool was_promised) {
    if (was_promised) keep_promise();
    if (is_waiting_.load() && stop_waiting()) resume_();
  }

 private:
  // The newcomer no longer counts, although the listener has not counted again yet: otherwise
  // another connection would end for it in the meantime.
  void keep_promise() {
    std::uint32_t newcomers = newcomers_.load(std::memory_order_relaxed);
    while (newcomers > 0 &&
           !newcomers_.compare_exchange_weak(newcomers, newcomers - 1, std::memory_order_relaxed)) {
    }
    withdraw_promise();
  }

  std::atomic<bool> is_waiting_{false};
  std::atomic<std::uint32_t> newcomers_{0};
  std::atomic<std::uint32_t> promised_{0};
  std::function<void()> resume_;
};

}  // namespace spillway::proxy
