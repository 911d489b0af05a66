// Moves pages from the write-ahead log into the file, on a connection and a thread of its own.
//
// Within COMMIT a checkpoint is what the slowest percent of commits wait for. Beside the commits it
// never gets to the end of the log as long as there are more of them, so the log grows; beyond its
// cap the writer waits for a checkpoint between two transactions, and the log begins anew.
//
// SQLite flushes the file only with a checkpoint that comes to the end of the log. So the thread
// flushes what it has moved: else the writer would, all at once, which took 12 to 28 ms.
//
// If the disk fails to flush the file, the kernel may have dropped what was moved, and a second
// flush succeeds: the log alone has it all. So the log is never begun anew after that, not at the
// end either. Whoever opens the file next moves all of it again.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "store/sqlite/sqlite_database.hpp"

namespace spillway::store {

class SqliteCheckpoint {
 public:
  static constexpr std::int64_t kMostBytes = std::int64_t{128} << 20;

  explicit SqliteCheckpoint(Database& writer);
  ~SqliteCheckpoint();
  SqliteCheckpoint(const SqliteCheckpoint&) = delete;
  SqliteCheckpoint& operator=(const SqliteCheckpoint&) = delete;

  bool start(const std::string& file);  // false: `failure` says why
  Failure failure() const { return connection_.failure(); }

  // The writer, after each transaction.
  void wrote();
  // The writer, before each transaction: keeps the log below its cap.
  void keep_short();
  // The disk has failed to flush the file: nothing more is to be written.
  bool has_failed() const { return has_failed_; }
  // The disk is full: the log's space is wanted.
  void want_space() { wants_space_ = true; }

 private:
  void work();
  void move_pages();

  // So many pages are worth a checkpoint. One after each pause between two commits, of a few pages,
  // doubles the time of a lone commit: both flush the same disk.
  static constexpr std::int64_t kPages = 1000;

  Database& writer_;
  Database connection_;
  std::int64_t page_bytes_ = 4096;
  std::int64_t log_pages_ = 0;       // since it began anew
  std::int64_t reported_pages_ = 0;  // of which the thread knows
  std::int64_t tried_pages_ = 0;     // when a reader was in the way of a new beginning
  bool wants_space_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool has_work_ = false, is_ending_ = false;
  std::mutex working_;
  std::atomic<bool> has_failed_{false};
  std::thread thread_;
};

}  // namespace spillway::store
