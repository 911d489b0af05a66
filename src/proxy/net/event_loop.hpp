// A worker's event loop: edge-triggered epoll (epoll(7)). A descriptor is registered once for its
// life, so that waiting for it costs no system call; who is told of an edge remembers it until the
// descriptor has nothing more to give.
//
// What other threads want done is posted. All but post() and stop() is for the loop's own thread,
// or for before it runs and after it ended.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <concepts>
#include <coroutine>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace spillway::proxy {

// What is told of a descriptor's events.
class Watcher {
 public:
  // `events` as epoll_wait(2) gives them. May end or change any watcher, itself included.
  virtual void on_events(std::uint32_t events) = 0;

 protected:
  ~Watcher() = default;
};

// Something to be done on the loop's thread, kept where its owner is. It may be posted again as
// soon as it runs; until then it must stay where it is.
class Posted {
 public:
  virtual void run() = 0;
  virtual void discard() {}  // the loop ended instead

 protected:
  virtual ~Posted() = default;

 private:
  friend class EventLoop;
  Posted* next_ = nullptr;
};

class EventLoop {
 public:
  EventLoop();   // throws std::system_error without descriptors
  ~EventLoop();  // discards what is posted
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Until stop(). What runs must not throw.
  void run();
  // What is due now, without waiting for more.
  void poll();

  // When the event at hand was taken up, or a moment later: the clock is asked once an event,
  // however many want to know. Within what the loop runs only.
  TimePoint now() {
    if (!std::exchange(has_time_, true)) time_ = Clock::now();
    return time_;
  }

  // From any thread:
  void stop();
  void post(Posted& posted);
  template <std::invocable Function>
  void post(Function function) {
    post(*new OnHeap<Function>(std::move(function)));
  }
  // At once if this is the loop's thread.
  template <std::invocable Function>
  void dispatch(Function function) {
    if (is_own_thread()) {
      function();
    } else {
      post(std::move(function));
    }
  }

  // Tells the watcher of these events (EPOLLIN, ...) whenever they become true, the first time when
  // they are. False when the system has no memory or watches left. Closing the descriptor ends it.
  bool watch(int descriptor, std::uint32_t events, Watcher& watcher);
  // Of what it is told from now on; of what is true already once more.
  void change(int descriptor, std::uint32_t events, Watcher& watcher);
  // It is told no more of what has been seen already. Before a watcher ends.
  void forget(const Watcher& watcher);
  // Drops what is posted: once it has ended, and before those end whom that would concern.
  void discard();
  // Tells the watcher, without events, before the loop waits again.
  void tell_soon(Watcher& watcher) { soon_.push_back(&watcher); }

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

  static constexpr int kMostEvents = 256;

  bool is_own_thread() const {
    return thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  Posted* take_posted();
  void round(bool may_wait);
  void run_posted();
  void tell_those_soon();
  void wait(int timeout);

  int epoll_;
  int wakeup_;  // an eventfd: another thread has posted something
  std::atomic<std::thread::id> thread_{};
  std::atomic<bool> stopped_{false};
  std::atomic<Posted*> newest_{nullptr};
  std::vector<Watcher*> soon_;
  std::vector<Watcher*> told_;  // the soon_ of this round
  std::array<epoll_event, kMostEvents> events_;
  int next_event_ = 0;
  int event_count_ = 0;
  bool has_time_ = false;  // of the event at hand
  TimePoint time_{};
};

// co_await Yield(loop) lets everything else that is due go first.
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

// Runs a function of its owner at a time, once for each time it is set. Precise to what the system
// can (timerfd_create(2)).
class LoopTimer final : Watcher {
 public:
  using Function = void (*)(void* owner);
  // Throws std::system_error without descriptors.
  LoopTimer(EventLoop& loop, Function function, void* owner);
  ~LoopTimer();
  LoopTimer(const LoopTimer&) = delete;
  LoopTimer& operator=(const LoopTimer&) = delete;

  void set(TimePoint when);  // instead of what was set before
  void cancel();

 private:
  void on_events(std::uint32_t events) override;

  EventLoop& loop_;
  Function function_;
  void* owner_;
  int descriptor_;
  bool set_ = false;
};

}  // namespace spillway::proxy
