// Tells the listener that a client connection has ended, while it waits for room for another one.
//
// The listener says that it waits and then counts the connections again; a worker counts one less
// and then looks whether anybody waits. Both in one total order, so that at least one of them sees
// what the other did.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

namespace spillway::proxy {

class AcceptResume {
 public:
  // Called by whoever ends a connection, once for each wait(). While no other thread runs.
  void on_freed(std::function<void()> wake) { wake_ = std::move(wake); }

  // From any thread.
  void wait() { waited_for_.store(true); }
  // False: nobody was waiting, or has been woken.
  bool stop_waiting() { return waited_for_.exchange(false); }
  void freed() {
    if (waited_for_.load() && stop_waiting()) wake_();
  }

 private:
  std::atomic<bool> waited_for_{false};
  std::function<void()> wake_;
};

}  // namespace spillway::proxy
