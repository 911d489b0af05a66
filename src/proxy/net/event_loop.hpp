// A worker's event loop: one asio::io_context run by one thread. Timers, work from other threads,
// accepting and stopping use Asio; connections are watched by one ReadinessSet, whose comment says
// what that saves and costs.
//
// A turn delivers events (ReadinessSet says which), then runs posted work, then deferred watchers.
// Work that those post or defer waits for the next turn, so connections are served in between.
//
// Thread-safe: post(), stop(). Everything else: loop thread only, or while the loop does not run.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "proxy/net/lock_free_list.hpp"
#include "proxy/net/readiness_set.hpp"

namespace spillway::proxy {

// Work for the loop's thread, stored in its owner, so that posting allocates nothing. It must stay
// alive until run() or discard() is called, and may then be posted again.
class Posted {
 public:
  virtual void run() = 0;
  virtual void discard() {}  // instead of run(): the loop has ended

 protected:
  virtual ~Posted() = default;

 private:
  friend class EventLoop;
  Posted* next_ = nullptr;
};

class EventLoop {
 public:
  using Executor = boost::asio::io_context::executor_type;

  EventLoop();   // throws std::system_error if the process has no descriptors left
  ~EventLoop();  // discards posted work
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // For Asio's I/O objects. Their handlers call begin_event() first and must not throw.
  boost::asio::io_context& io() { return io_; }

  // Runs until stop(). Returns at once if that was called already.
  void run();
  // Runs due work without waiting, also after stop().
  void poll();
  void stop();

  // The time at which the current event began, at most a moment later: the clock is read once per
  // event, however often now() is called. Only within handlers.
  TimePoint now() {
    if (!std::exchange(has_time_, true)) time_ = Clock::now();
    return time_;
  }
  // An event begins: now() reads the clock again.
  void begin_event() { has_time_ = false; }
  // The same with a given time, for tests that do not wait for it.
  void begin_event(TimePoint now) {
    time_ = now;
    has_time_ = true;
  }

  // Runs the work on the loop's thread, in the order of posting.
  void post(Posted& posted) {
    if (posted_.push(posted) && !is_in_turn()) schedule();
  }
  template <std::invocable Function>
  void post(Function function) {
    post(*new OnHeap<Function>(std::move(function)));
  }
  // Thread-safe too. Calls the function at once if the loop is running it on this thread.
  template <std::invocable Function>
  void dispatch(Function function) {
    if (executor_.running_in_this_thread()) {
      function();
    } else {
      post(std::move(function));
    }
  }
  // Drops posted work, after the loop has ended and before the objects it refers to are destroyed.
  void discard();

  // Watches a descriptor for EPOLLIN and the like, edge-triggered; see ReadinessSet.
  bool watch(int descriptor, std::uint32_t events, Watcher& watcher) {
    return ready_.add(descriptor, events, watcher);
  }
  void change(int descriptor, std::uint32_t events, Watcher& watcher) {
    ready_.change(descriptor, events, watcher);
  }
  void unwatch(int descriptor) { ready_.remove(descriptor); }
  // Drops events and deferrals of the watcher that have not been delivered yet. Call it before the
  // watcher is destroyed.
  void forget(Watcher& watcher);
  // From now on work in progress waits for an event of the watcher; see ReadinessSet.
  void hurry(Watcher& watcher) { ready_.hurry(watcher); }
  // How often the loop has checked all descriptors, and whether it last found nothing for this one.
  std::uint64_t looks() const { return ready_.looks(); }
  bool is_quiet(const Watcher& watcher) const { return ready_.is_quiet(watcher); }
  bool has_event(const Watcher& watcher) const { return ready_.has_event(watcher); }
  // How long the oldest new request has waited to be read; see ReadinessSet.
  Duration oldest_wait(TimePoint now) const { return ready_.oldest_wait(now); }
  // Calls watcher.on_events(0) before the loop waits again.
  void defer(Watcher& watcher);

 private:
  template <class Function>
  class OnHeap final : public Posted {
   public:
    explicit OnHeap(Function function) : function_(std::move(function)) {}
    void run() override {
      Function function = std::move(function_);
      delete this;
      function();
    }
    void discard() override { delete this; }

   private:
    Function function_;
  };

  // Memory for the handler that asio::post() queues to run posted work, so that posting allocates
  // nothing. At most one is queued (is_scheduled_), and Asio frees its memory before it calls it.
  class HandlerMemory final : public std::pmr::memory_resource {
    void* do_allocate(std::size_t size, std::size_t) override {
      if (size > sizeof bytes_) throw std::bad_alloc();
      return bytes_;
    }
    void do_deallocate(void*, std::size_t, std::size_t) override {}
    bool do_is_equal(const memory_resource& other) const noexcept override {
      return this == &other;
    }

    alignas(std::max_align_t) std::byte bytes_[128];
  };

  bool is_in_turn() const { return executor_.running_in_this_thread() && in_turn_; }
  void schedule();
  void await_ready();
  void on_ready();
  void on_posted();
  void end_turn();
  void run_posted();
  void run_deferred();

  HandlerMemory handler_memory_;  // outlives io_, which may still hold the handler
  boost::asio::io_context io_;
  Executor executor_;
  ReadinessSet ready_;
  LockFreeList<Posted, &Posted::next_> posted_;
  std::atomic<bool> is_scheduled_{false};  // on_posted() is queued
  std::vector<Watcher*> deferred_;
  std::vector<Watcher*> running_;  // the deferred_ of this turn; null: forgotten
  std::size_t ran_ = 0;            // number of these and of posted work run since the last look
  bool in_turn_ = false;           // posted work and deferred watchers run at its end
  bool has_time_ = false;          // time_ is the time of the current event
  TimePoint time_{};
};

// co_await Yield(loop) lets everything else that is due run first.
class Yield final : Posted {
 public:
  explicit Yield(EventLoop& loop) : loop_(loop) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> coroutine) {
    coroutine_ = coroutine;
    loop_.post(*this);
  }
  void await_resume() const noexcept {}

 private:
  void run() override { coroutine_.resume(); }

  EventLoop& loop_;
  std::coroutine_handle<> coroutine_;
};

}  // namespace spillway::proxy
