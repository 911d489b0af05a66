// Resumes accepting when a client connection ends while the listener waits at the connection cap.
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
  bool is_waiting() const { return is_waiting_.load(std::memory_order_relaxed); }
  // False: there was no wait(), or it has ended.
  bool stop_waiting() { return is_waiting_.exchange(false); }
  void connection_closed() {
    if (is_waiting_.load() && stop_waiting()) resume_();
  }

 private:
  std::atomic<bool> is_waiting_{false};
  std::function<void()> resume_;
};

}  // namespace spillway::proxy
