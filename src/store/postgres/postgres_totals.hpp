// The number of jobs in a PostgreSQL store. Counting takes time in proportion to the jobs (10^6:
// some 200 ms), so it has a connection and a thread of its own, and does not delay commands. It
// runs for at most a twentieth of the time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "base/time.hpp"
#include "store/contract/command.hpp"
#include "store/postgres/postgres_connection.hpp"

namespace spillway::store {

class PostgresTotals {
 public:
  explicit PostgresTotals(std::string url) : connection_(std::move(url), false) {}
  ~PostgresTotals();
  PostgresTotals(const PostgresTotals&) = delete;
  PostgresTotals& operator=(const PostgresTotals&) = delete;

  // The last count, and starts a new one; before the first one it is empty. If `patience` is not 0,
  // waits that long for the new one.
  Totals latest(std::chrono::milliseconds patience);

  static constexpr int kRest = 20;  // times the duration of the count

 private:
  void work();
  bool count(Totals& totals);

  PostgresConnection connection_;  // only used by the thread, except interrupt()
  std::mutex mutex_;               // guards these:
  std::condition_variable changed_;
  Totals latest_;
  std::uint64_t asked_ = 0, counted_ = 0;
  TimePoint rests_until_{};
  bool is_over_ = false;
  std::thread thread_;  // started by the first call of latest()
};

}  // namespace spillway::store
