// Something that happens once, waited for with a deadline, by any number of threads; and the
// deadlines of all waiting in tests.
#pragma once

#include <atomic>
#include <chrono>

namespace spillway::support {

using namespace std::chrono_literals;
using Milliseconds = std::chrono::milliseconds;

// How long a test waits for what must happen. Long, since it is only reached on failure.
inline constexpr Milliseconds kPatience{10'000};

class Deadline {
 public:
  explicit Deadline(Milliseconds from_now = kPatience)
      : end_(std::chrono::steady_clock::now() + from_now) {}
  // What is left as poll(2) takes it: whole milliseconds, 0 when it has passed.
  int left() const;
  bool passed() const { return left() == 0; }

 private:
  std::chrono::steady_clock::time_point end_;
};

// poll(2) for one descriptor, again after a signal. False: the deadline passed.
bool wait_ready(int descriptor, short events, const Deadline& deadline);

class Event {
 public:
  Event();  // throws std::system_error without descriptors
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void set();
  bool wait(Milliseconds within = kPatience) const;
  bool is_set() const { return wait(Milliseconds{0}); }
  int descriptor() const { return descriptor_; }  // readable once the event is set

 private:
  int descriptor_;
  std::atomic<bool> happened_{false};  // what came before it is seen by whoever waited
};

}  // namespace spillway::support
