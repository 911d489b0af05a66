// How many jobs there are in a PostgreSQL store. Counting takes as long as there are jobs (10^6:
// some 200 ms), so it is done on a connection and a thread of its own: what is written down does
// not wait for it. It is at work for a twentieth of the time at most.
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

  // What was counted last, after which it is counted anew; before the first time nothing. Waits for
  // that for `patience`, if it is not 0.
  Totals latest(std::chrono::milliseconds patience);

  static constexpr int kRest = 20;  // times what it took

 private:
  void work();
  bool count(Totals& totals);

  PostgresConnection connection_;  // the thread's own, but for interrupt()
  std::mutex mutex_;               // of these:
  std::condition_variable changed_;
  Totals latest_;
  std::uint64_t asked_ = 0, counted_ = 0;
  TimePoint rests_until_{};
  bool is_over_ = false;
  std::thread thread_;  // from the first question on
};

}  // namespace spillway::store
