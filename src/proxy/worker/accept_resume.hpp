// What the listener and the workers tell each other of the connection limit: that accepting is held
// up for want of room, and that a client connection has ended while the listener waits at the
// connection cap, which resumes accepting.
//
// The listener calls wait() and then counts the connections again; a worker counts one less and
// then calls connection_closed(). All of this is sequentially consistent, so at least one of the
// two sees what the other did and no wake-up is lost.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

namespace spillway::proxy {

class AcceptResume {
 public:
  // Sets the function that connection_closed() calls, on its caller's thread, once for each wait().
  // Before other threads run.
  void on_connection_closed(std::function<void()> resume) { resume_ = std::move(resume); }

  // Thread-safe:
  void wait() { is_waiting_.store(true); }
  // No descriptor, or no memory, was left for one more connection. The listener tries again by
  // itself: others than clients' may become free.
  void set_out_of_descriptors(bool is_out) {
    is_out_of_descriptors_.store(is_out, std::memory_order_relaxed);
  }
  bool is_at_connection_limit() const {
    return is_waiting_.load(std::memory_order_relaxed) ||
           is_out_of_descriptors_.load(std::memory_order_relaxed);
  }
  // False: there was no wait(), or it has ended.
  bool stop_waiting() { return is_waiting_.exchange(false); }
  void connection_closed() {
    if (is_waiting_.load() && stop_waiting()) resume_();
  }

 private:
  std::atomic<bool> is_waiting_{false};
  std::atomic<bool> is_out_of_descriptors_{false};
  std::function<void()> resume_;
};

}  // namespace spillway::proxy
