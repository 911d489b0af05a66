// Idempotency-Keys, in tables that are rotated by time and emptied as a whole.
//
// Keys are hashes: they fall on random pages of a B-tree, and in a single table of a day's keys
// each would write a page of its own. The table of a time window stays small, new keys are inserted
// in its order (sqlite_recent_keys.hpp), and its keys are forgotten in the order of their pages, a
// batch at a time. A window is emptied when all its jobs have ended and the last key's time is
// over; until the oldest one is emptied, the newest one stays in use. So that a job that waits for
// long does not delay this, the keys of jobs that have not ended after a day are moved to the
// newest window.
//
// The most recently accepted keys belong to one window. When another window becomes the newest,
// they are moved into their own window's table, some with each transaction, and until that is done,
// new keys are written directly into the newest window's table.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "store/sqlite/sqlite_database.hpp"
#include "store/sqlite/sqlite_recent_keys.hpp"
#include "store/sqlite/sqlite_row_inserts.hpp"

namespace spillway::store {

class SqliteKeys {
 public:
  static constexpr std::size_t kWindows = 8;
  static constexpr std::chrono::hours kWindow{6};
  static constexpr std::chrono::hours kKept{24};  // after the end of its job, at least
  static constexpr std::int64_t kForgottenAtOnce = 10'000;
  static constexpr std::int64_t kLookedAtAtOnce = 1'000;

  // With each transaction, for a window whose time is over.
  static constexpr std::size_t kMovedOfOldWindow = 512;

  using Known = SqliteRecentKeys::Known;

  explicit SqliteKeys(Database& database);

  void load();
  void write();

  std::optional<Known> find(const jobs::Digest& scope);
  // Adds to the newest window; returns its number, which is stored with the job.
  std::int64_t add(const jobs::IdempotencyKey& key, const jobs::JobId& id, jobs::WallTime now);
  void ended(std::int64_t window, jobs::WallTime at, std::chrono::milliseconds kept);
  void reopened(std::int64_t window);  // its job waits again
  // Empties windows whose time is over, and moves keys of jobs that wait for long: one batch of one
  // window. True: there is more to do.
  bool forget(jobs::WallTime now);

 private:
  struct Window {
    jobs::WallTime began{};
    std::int64_t keys = 0;
    std::int64_t unfinished = 0;
    jobs::WallTime keep_until{};
    bool is_changed = false;
    std::string looked_to;       // the last scope whose job has been checked for its end
    jobs::WallTime look_from{};  // the next time, once all have been checked
    std::unique_ptr<Statement> find, remove, clear, unfinished_after;
    std::unique_ptr<RowInserts> insert;

    bool is_over(jobs::WallTime now) const { return unfinished == 0 && keep_until <= now; }
  };

  void rotate(jobs::WallTime now);
  static void insert(Window& window, std::span<const SqliteRecentKeys::Entry> keys);
  void clear_some(Window& window);
  bool has_recent(const Window& window) const;
  bool holds_up(const Window& window, jobs::WallTime now) const;
  void move_some(std::size_t n, jobs::WallTime now);

  Database& database_;
  Statement update_, move_job_;
  SqliteRecentKeys recent_;
  std::array<Window, kWindows> windows_;
  std::size_t newest_ = 0;
};

}  // namespace spillway::store
