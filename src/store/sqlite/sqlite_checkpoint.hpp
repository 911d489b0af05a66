// Copies pages from the write-ahead log into the file, on a connection and a thread of its own.
//
// A checkpoint within COMMIT is what makes the slowest percent of commits slow. Concurrently with
// commits it never reaches the end of the log while there are more commits, so the log grows; at
// its cap the writer waits for a checkpoint between two transactions, and the log is restarted.
//
// SQLite flushes the file only with a checkpoint that reaches the end of the log. So the thread
// flushes the pages it copied: the writer would flush all at once, which took 12 to 28 ms.
//
// If the disk fails to flush the file, the kernel may have dropped the copied pages, and a second
// flush succeeds: only the log has all of it. So the log is never restarted after that, not even at
// the end. The next process that opens the file copies all of it again.
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

  // Called by the writer after each transaction.
  void wrote();
  // Called by the writer before each transaction: keeps the log below its cap.
  void keep_short();
  // The disk has failed to flush the file: nothing more may be written.
  bool has_failed() const { return has_failed_; }
  // The disk is full: the log's space should be freed.
  void want_space() { wants_space_ = true; }

 private:
  void work();
  void move_pages();

  // How many pages justify a checkpoint. One after each pause between two commits, of a few pages,
  // would double the time of a lone commit: both flush the same disk.
  static constexpr std::int64_t kPages = 1000;

  Database& writer_;
  Database connection_;
  std::int64_t page_bytes_ = 4096;
  std::int64_t log_pages_ = 0;       // since it was restarted
  std::int64_t reported_pages_ = 0;  // reported to the thread
  std::int64_t tried_pages_ = 0;     // when a reader blocked a restart
  bool wants_space_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool has_work_ = false, is_ending_ = false;
  std::mutex working_;
  std::atomic<bool> has_failed_{false};
  std::thread thread_;
};

}  // namespace spillway::store
