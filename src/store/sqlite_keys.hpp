// Idempotency keys, in tables that are rotated by time and emptied as a whole.
//
// Keys are hashes: they fall on random pages of a B-tree, and a table of one day's keys would write
// a page for each. A window's table stays small, and its keys are forgotten in the order of their
// pages, a step at a time. A window is emptied when all its jobs have ended and the last key's time
// is over; as long as the oldest one is not, the newest one goes on to be used.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "store/sqlite_database.hpp"

namespace spillway::store {

class SqliteKeys {
 public:
  static constexpr std::size_t kWindows = 8;
  static constexpr std::chrono::hours kWindow{6};
  static constexpr std::chrono::hours kKept{24};  // after the end of its job, at least
  static constexpr std::int64_t kForgottenAtOnce = 10'000;

  struct Known {
    jobs::Digest fingerprint{};
    jobs::JobId id;
  };

  explicit SqliteKeys(Database& database);

  void load();
  void write();

  std::optional<Known> find(const jobs::Digest& scope);
  // Into the newest window, whose number the job keeps.
  std::int64_t add(const jobs::IdempotencyKey& key, const jobs::JobId& id, jobs::WallTime now);
  void ended(std::int64_t window, jobs::WallTime at, std::chrono::milliseconds kept);
  void reopened(std::int64_t window);  // its job waits again
  // Empties windows whose time is over: a step of one of them. True: there is more to do.
  bool forget(jobs::WallTime now);

 private:
  struct Window {
    jobs::WallTime began{};
    std::int64_t keys = 0;
    std::int64_t unfinished = 0;
    jobs::WallTime keep_until{};
    bool is_changed = false;
    std::unique_ptr<Statement> find, insert, clear;

    bool is_over(jobs::WallTime now) const { return unfinished == 0 && keep_until <= now; }
  };

  void rotate(jobs::WallTime now);
  void clear_some(Window& window);

  Database& database_;
  Statement update_;
  std::array<Window, kWindows> windows_;
  std::size_t newest_ = 0;
};

}  // namespace spillway::store
