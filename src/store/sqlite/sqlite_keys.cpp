#include "store/sqlite/sqlite_keys.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "store/sqlite/sqlite_sql.hpp"
#include "store/sqlite/sqlite_time.hpp"

namespace spillway::store {

SqliteKeys::SqliteKeys(Database& database)
    : database_(database),
      update_(database,
              "INSERT OR REPLACE INTO key_windows (n, began, keys, unfinished, keep_until)"
              " VALUES (?1, ?2, ?3, ?4, ?5)"),
      move_job_(database, "UPDATE jobs SET key_window = ?2 WHERE seq = ?1"),
      recent_(database) {
  for (std::size_t n = 0; n < kWindows; ++n) {
    const std::string table = "keys_" + std::to_string(n);
    Window& window = windows_[n];
    window.find = std::make_unique<Statement>(
        database, "SELECT fingerprint, id FROM " + table + " WHERE scope = ?1");
    // A row may exist already (SqliteRecentKeys).
    window.insert = std::make_unique<RowInserts>(
        database, ("INSERT OR IGNORE INTO " + table + " (scope, fingerprint, id) VALUES ").c_str(),
        sql::kKeyRow, "");
    window.remove =
        std::make_unique<Statement>(database, "DELETE FROM " + table + " WHERE scope = ?1");
    // Of this many keys, in order, those of jobs that have not ended; for others `seq` is NULL.
    window.unfinished_after = std::make_unique<Statement>(
        database,
        "SELECT k.scope, k.fingerprint, k.id, jobs.seq FROM (SELECT scope, fingerprint, id"
        " FROM " +
            table +
            " WHERE scope > ?1 ORDER BY scope LIMIT ?2) AS k"
            " LEFT JOIN jobs ON jobs.id = k.id AND jobs.ended IS NULL"
            " AND jobs.key_window = " +
            std::to_string(n));
    window.clear = std::make_unique<Statement>(database, "DELETE FROM " + table +
                                                             " WHERE scope IN (SELECT scope FROM " +
                                                             table + " ORDER BY scope LIMIT ?1)");
  }
}

void SqliteKeys::load() {
  for (Window& window : windows_) {
    window.began = window.keep_until = jobs::kNoTime;
    window.keys = window.unfinished = 0;
    window.is_changed = false;
    window.looked_to.clear();
    window.look_from = jobs::kNoTime;
  }
  newest_ = 0;
  Statement all(database_, "SELECT n, began, keys, unfinished, keep_until FROM key_windows");
  Rows rows = all.with();
  while (rows.next()) {
    const auto n = static_cast<std::size_t>(rows.number(0));
    if (n >= kWindows) continue;
    Window& window = windows_[n];
    window.began = time_of(rows.number(1));
    window.keys = rows.number(2);
    window.unfinished = rows.number(3);
    window.keep_until = time_of(rows.number(4));
    if (window.began > windows_[newest_].began) newest_ = n;
  }
  recent_.load(newest_);
}

void SqliteKeys::write() {
  recent_.write();
  const bool is_old = recent_.window() != newest_ && !recent_.is_empty();
  const std::size_t moved = is_old ? kMovedOfOldWindow : recent_.surplus();
  if (moved > 0) insert(windows_[recent_.window() % kWindows], recent_.take(moved));
  for (std::size_t n = 0; n < kWindows; ++n) {
    Window& window = windows_[n];
    if (!window.is_changed) continue;
    update_.execute(static_cast<std::int64_t>(n), number_of(window.began), window.keys,
                    window.unfinished, number_of(window.keep_until));
    window.is_changed = false;
  }
}

void SqliteKeys::insert(Window& window, std::span<const SqliteRecentKeys::Entry> keys) {
  RowInserts::divide(keys, [&window](std::span<const SqliteRecentKeys::Entry> part) {
    window.insert->insert(part, [](Rows& rows, const SqliteRecentKeys::Entry& entry) {
      rows.add(blob(entry.first), blob(entry.second.fingerprint), blob(entry.second.id.bytes));
    });
  });
}

// The newest first: most duplicates soon follow their original.
std::optional<SqliteKeys::Known> SqliteKeys::find(const jobs::Digest& scope) {
  if (const Known* const recent = recent_.find(scope)) return *recent;
  for (std::size_t back = 0; back < kWindows; ++back) {
    Window& window = windows_[(newest_ + kWindows - back) % kWindows];
    if (window.keys == 0) continue;
    Rows rows = window.find->with(blob(scope));
    if (!rows.next()) continue;
    Known known;
    rows.read(0, known.fingerprint);
    rows.read(1, known.id.bytes);
    return known;
  }
  return std::nullopt;
}

std::int64_t SqliteKeys::add(const jobs::IdempotencyKey& key, const jobs::JobId& id,
                             jobs::WallTime now) {
  rotate(now);
  Window& window = windows_[newest_];
  if (recent_.window() != newest_ && recent_.is_empty()) recent_.begin(newest_);
  if (recent_.window() == newest_) {
    recent_.add(key.scope, {key.fingerprint, id});
  } else {
    const SqliteRecentKeys::Entry entry{key.scope, {key.fingerprint, id}};
    insert(window, {&entry, 1});
  }
  ++window.keys;
  ++window.unfinished;
  window.is_changed = true;
  return static_cast<std::int64_t>(newest_);
}

void SqliteKeys::ended(std::int64_t n, jobs::WallTime at, std::chrono::milliseconds kept) {
  Window& window = windows_[static_cast<std::size_t>(n) % kWindows];
  --window.unfinished;
  window.keep_until =
      std::max(window.keep_until, at + std::max<std::chrono::milliseconds>(kept, kKept));
  window.is_changed = true;
}

void SqliteKeys::reopened(std::int64_t n) {
  Window& window = windows_[static_cast<std::size_t>(n) % kWindows];
  ++window.unfinished;
  window.is_changed = true;
}

bool SqliteKeys::forget(jobs::WallTime now) {
  bool has_done_one = false;
  for (std::size_t n = 0; n < kWindows; ++n) {
    Window& window = windows_[n];
    const auto has_work = [&] {
      return window.keys != 0 && (window.is_over(now) || holds_up(window, now));
    };
    if (!has_work()) continue;
    if (has_done_one) return true;
    window.is_over(now) ? clear_some(window) : move_some(n, now);
    has_done_one = true;
    if (has_work()) return true;
  }
  return false;
}

bool SqliteKeys::has_recent(const Window& window) const {
  return !recent_.is_empty() && &window == &windows_[recent_.window() % kWindows];
}

// Whether some of its jobs wait for long. A replayed job may be missed: it is found later.
bool SqliteKeys::holds_up(const Window& window, jobs::WallTime now) const {
  return &window != &windows_[newest_] && !has_recent(window) && window.unfinished > 0 &&
         now - window.began >= kKept && window.look_from <= now;
}

void SqliteKeys::move_some(std::size_t n, jobs::WallTime now) {
  Window& window = windows_[n];
  Window& newest = windows_[newest_];
  std::vector<SqliteRecentKeys::Entry> found;
  std::vector<std::int64_t> jobs;
  std::int64_t looked_at = 0;
  {
    const std::string after = window.looked_to;
    Rows rows = window.unfinished_after->with(blob(after), kLookedAtAtOnce);
    for (; rows.next(); ++looked_at) {
      window.looked_to = std::max(window.looked_to, rows.text(0));
      if (rows.is_null(3)) continue;
      found.push_back(SqliteRecentKeys::read(rows));
      jobs.push_back(rows.number(3));
    }
  }
  for (const auto& [scope, known] : found) window.remove->execute(blob(scope));
  insert(newest, found);
  for (const std::int64_t seq : jobs) move_job_.execute(seq, static_cast<std::int64_t>(newest_));
  const auto moved = static_cast<std::int64_t>(found.size());
  window.keys -= moved;
  window.unfinished -= moved;
  newest.keys += moved;
  newest.unfinished += moved;
  if (moved > 0) window.is_changed = newest.is_changed = true;
  if (looked_at == kLookedAtAtOnce) return;
  window.looked_to.clear();
  window.look_from = now + kWindow;
}

void SqliteKeys::clear_some(Window& window) {
  if (has_recent(window)) recent_.begin(newest_);
  window.clear->execute(kForgottenAtOnce);
  const std::int64_t gone = sqlite3_changes(database_.handle());
  window.keys = gone < kForgottenAtOnce ? 0 : std::max<std::int64_t>(1, window.keys - gone);
  window.is_changed = true;
}

void SqliteKeys::rotate(jobs::WallTime now) {
  Window& newest = windows_[newest_];
  if (newest.began == jobs::kNoTime) newest.began = now;
  if (now - newest.began < kWindow) return;
  const std::size_t next = (newest_ + 1) % kWindows;
  if (windows_[next].keys != 0) return;
  newest_ = next;
  windows_[next].began = now;
  windows_[next].looked_to.clear();
  windows_[next].look_from = jobs::kNoTime;
}

}  // namespace spillway::store
