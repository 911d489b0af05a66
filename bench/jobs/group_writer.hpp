// The thread that executes commands on a store as the proxy's does: it takes what waits, at most
// 256 jobs, without a timer.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "store/contract/job_store.hpp"

namespace spillway::job_bench {

inline constexpr std::size_t kMostJobs = 256;  // of a batch; 1 MiB is never reached with 1 KiB each

class GroupWriter {
 public:
  explicit GroupWriter(store::JobStore& store);
  ~GroupWriter();
  GroupWriter(const GroupWriter&) = delete;
  GroupWriter& operator=(const GroupWriter&) = delete;

  // Waits until fewer than `outstanding` commands are not acknowledged, and says how many fewer.
  // Throws std::runtime_error with what the store refused.
  std::size_t await_room(std::size_t outstanding);
  void put(std::vector<store::Command>& commands);
  // Waits for what is outstanding. The time of each command, from put() until it was durable.
  std::vector<double> finish();

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    store::Command command;
    Clock::time_point since;
  };

  void run();
  bool take(std::vector<Waiting>& batch);
  void end();
  void throw_failure() const;

  store::JobStore& store_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  std::vector<double> times_ms_;
  std::size_t outstanding_ = 0;
  bool is_over_ = false;
  std::optional<std::string> failure_;
  std::thread thread_;  // the last, since it uses the others
};

}  // namespace spillway::job_bench
