#include "store/sqlite/sqlite_recent_keys.hpp"

#include <algorithm>
#include <span>

#include "store/sqlite/sqlite_sql.hpp"

namespace spillway::store {

namespace {

constexpr std::size_t kKeysMovedAtLeast = 16;  // by each transaction that adds fewer than half
// During a round, this many keys move for each new one: so the round ends whatever the order of new
// keys, and the keys loaded at a restart move too.
constexpr std::size_t kMovedForEach = 2;

}  // namespace

SqliteRecentKeys::SqliteRecentKeys(Database& database)
    : database_(database),
      insert_{RowInserts(database, sql::kInsertRecentKeys[0], sql::kRecentKeyRow, ""),
              RowInserts(database, sql::kInsertRecentKeys[1], sql::kRecentKeyRow, "")},
      clear_{Statement(database, sql::kClearRecentKeys[0]),
             Statement(database, sql::kClearRecentKeys[1])} {}

SqliteRecentKeys::Entry SqliteRecentKeys::read(const Rows& rows) {
  jobs::Digest scope{};
  Known known;
  rows.read(0, scope);
  rows.read(1, known.fingerprint);
  rows.read(2, known.id.bytes);
  return {scope, known};
}

// If both tables have rows, a round was interrupted: all keys of both move in the next one.
void SqliteRecentKeys::load(std::size_t window) {
  window_ = window;
  keys_.clear();
  new_.clear();
  moved_to_.reset();
  filling_ = 0;
  std::array<bool, 2> has_any{};
  for (std::size_t table = 0; table < has_any.size(); ++table) {
    Statement all(database_, sql::kRecentKeys[table]);
    Rows rows = all.with();
    while (rows.next()) {
      keys_.insert(read(rows));
      window_ = static_cast<std::size_t>(rows.number(3));
      has_any[table] = true;
    }
  }
  if (has_any[1] && !has_any[0]) filling_ = 1;
  is_moving_ = has_any[0] && has_any[1];
}

const SqliteRecentKeys::Known* SqliteRecentKeys::find(const jobs::Digest& scope) const {
  const auto found = keys_.find(scope);
  return found == keys_.end() ? nullptr : &found->second;
}

void SqliteRecentKeys::add(const jobs::Digest& scope, const Known& known) {
  keys_.emplace(scope, known);
  new_.emplace_back(scope, known);
}

void SqliteRecentKeys::write() {
  RowInserts::divide(std::span<const Entry>(new_), [this](std::span<const Entry> part) {
    insert_[filling_].insert(part, [this](Rows& rows, const Entry& entry) {
      rows.add(blob(entry.first), blob(entry.second.fingerprint), blob(entry.second.id.bytes),
               static_cast<std::int64_t>(window_));
    });
  });
  added_ = new_.size();
  new_.clear();
}

std::size_t SqliteRecentKeys::surplus() const {
  return is_moving_ || keys_.size() > kMost ? std::max(kMovedForEach * added_, kKeysMovedAtLeast)
                                            : 0;
}

std::vector<SqliteRecentKeys::Entry> SqliteRecentKeys::take(std::size_t count) {
  if (!std::exchange(is_moving_, true)) filling_ = 1 - filling_;
  std::vector<Entry> taken;
  auto at = moved_to_ ? keys_.upper_bound(*moved_to_) : keys_.begin();
  for (; count > 0 && at != keys_.end(); --count) {
    taken.push_back(*at);
    at = keys_.erase(at);
  }
  if (!taken.empty()) moved_to_ = taken.back().first;
  if (at == keys_.end()) end_round();
  return taken;
}

void SqliteRecentKeys::end_round() {
  if (keys_.empty()) return begin(window_);
  clear_[1 - filling_].execute();
  is_moving_ = false;
  moved_to_.reset();
}

void SqliteRecentKeys::begin(std::size_t window) {
  for (Statement& table : clear_) table.execute();
  keys_.clear();
  new_.clear();
  is_moving_ = false;
  moved_to_.reset();
  window_ = window;
}

}  // namespace spillway::store
