// Coroutines of the request path.
//
// Task<T> starts when awaited and resumes its awaiter when it ends. Detached starts at once and
// frees itself at its end. Both live on one worker's thread from start to end, take their frames
// from that thread's free lists (no heap allocation in steady state, whatever the frame's size;
// asio::awaitable recycles frames only up to 1 KiB) and let no exception out.
//
// Await only in a statement of its own or in an initialiser (`const bool sent = co_await ...`): for
// `if (!co_await member())` g++ 12.2 lays the frame out wrongly and resumes through a null pointer.
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "proxy/net/low_water.hpp"

namespace spillway::proxy {

namespace detail {

struct FreeFrame {
  FreeFrame* next;
};

struct FreeFrames {
  struct List {
    FreeFrame* head = nullptr;
    std::size_t size = 0;
    LowWater low_water;

    void free_one() {
      --size;
      ::operator delete(std::exchange(head, head->next));
    }
  };
  std::array<List, 64> lists{};
};

}  // namespace detail

// Free lists of coroutine frames, one set per thread, in steps of 64 bytes up to 4 KiB.
class FramePool {
 public:
  static void* allocate(std::size_t size) {
#ifndef SPILLWAY_ADDRESS_SANITIZER  // the sanitizer sees stale frames only if each is really freed
    const std::size_t bucket = bucket_of(size);
    if (bucket < kBuckets) {
      detail::FreeFrames::List& list = free_.lists[bucket];
      if (list.head != nullptr) {
        list.low_water.took(--list.size);
        return std::exchange(list.head, list.head->next);
      }
      return allocate_new((bucket + 1) * kStep);
    }
#endif
    return ::operator new(size);
  }

  static void deallocate(void* frame, [[maybe_unused]] std::size_t size) {
#ifndef SPILLWAY_ADDRESS_SANITIZER
    const std::size_t bucket = bucket_of(size);
    if (bucket < kBuckets) {
      detail::FreeFrames::List& list = free_.lists[bucket];
      list.head = new (frame) detail::FreeFrame{list.head};
      ++list.size;
      return;
    }
#endif
    ::operator delete(frame);
  }

  // Called now and then by each thread: frees frames not needed since. Returns the bytes freed.
  static std::size_t trim() {
    std::size_t freed = 0;
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
      detail::FreeFrames::List& list = free_.lists[bucket];
      for (std::size_t n = list.low_water.surplus(list.size); n > 0; --n) {
        list.free_one();
        freed += (bucket + 1) * kStep;
      }
    }
    return freed;
  }

 private:
  static constexpr std::size_t kStep = 64;
  static constexpr std::size_t kBuckets = std::tuple_size_v<decltype(detail::FreeFrames::lists)>;
  static constexpr std::size_t bucket_of(std::size_t size) { return (size - 1) / kStep; }

  // Kept out of line, so that the code of the usual case stays short.
  [[gnu::noinline]] static void* allocate_new(std::size_t size) {
    static thread_local const AtThreadEnd empties;
    return ::operator new(size);
  }
  struct AtThreadEnd {
    ~AtThreadEnd() {
      for (detail::FreeFrames::List& list : free_.lists) {
        while (list.head != nullptr) list.free_one();
      }
    }
  };

  // Has no destructor, so that its use needs no initialisation check.
  static inline constinit thread_local detail::FreeFrames free_{};
};

struct PooledFrame {
  static void* operator new(std::size_t size) { return FramePool::allocate(size); }
  static void operator delete(void* frame, std::size_t size) { FramePool::deallocate(frame, size); }
};

template <class T = void>
class Task;

namespace detail {

struct TaskPromiseBase : PooledFrame {
  std::coroutine_handle<> awaiter;

  struct Final {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) noexcept {
      return ended.promise().awaiter;
    }
    void await_resume() noexcept {}
  };

  std::suspend_always initial_suspend() noexcept { return {}; }
  Final final_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { std::terminate(); }
};

template <class T>
struct TaskPromise : TaskPromiseBase {
  std::optional<T> value;
  Task<T> get_return_object();
  void return_value(T result) { value.emplace(std::move(result)); }
  T take() { return std::move(*value); }
};

template <>
struct TaskPromise<void> : TaskPromiseBase {
  Task<void> get_return_object();
  void return_void() {}
  void take() {}
};

}  // namespace detail

template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TaskPromise<T>;

  explicit Task(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (frame_) frame_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiter) noexcept {
    frame_.promise().awaiter = awaiter;
    return frame_;
  }
  T await_resume() { return frame_.promise().take(); }

 private:
  std::coroutine_handle<promise_type> frame_;
};

namespace detail {
template <class T>
Task<T> TaskPromise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<TaskPromise<T>>::from_promise(*this));
}
inline Task<void> TaskPromise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<TaskPromise<void>>::from_promise(*this));
}
}  // namespace detail

// `co_await OwnFrame{}` returns the coroutine's own handle, with which its owner can destroy it
// while it is suspended.
struct OwnFrame {
  std::coroutine_handle<> frame{};
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> own) noexcept {
    frame = own;
    return false;
  }
  std::coroutine_handle<> await_resume() const noexcept { return frame; }
};

struct Detached {
  struct promise_type : PooledFrame {
    Detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

}  // namespace spillway::proxy
