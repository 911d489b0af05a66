#include "store/sqlite/sqlite_claimable.hpp"

#include <algorithm>
#include <limits>

#include "store/sqlite/sqlite_sql.hpp"

namespace spillway::store {

namespace {

constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMovedAtLeast = 16;  // by each transaction, even if it adds fewer

SqliteClaimable::Entry read_entry(const Rows& rows) {
  return {rows.number(0), rows.number(1), rows.number(2), rows.number(3), rows.number(4)};
}

}  // namespace

SqliteClaimable::Entry SqliteClaimable::before_lane(Entry of_lane) {
  of_lane.due = of_lane.seq = kFirst;
  return of_lane;
}

SqliteClaimable::Entry SqliteClaimable::behind_lane(Entry of_lane) {
  of_lane.due = of_lane.seq = kLast;
  return of_lane;
}

SqliteClaimable::SqliteClaimable(Database& database)
    : database_(database),
      insert_(database, sql::kInsertClaimable, sql::kClaimableRow, ""),
      delete_(database, sql::kDeleteClaimable),
      next_lane_(database, sql::kNextLane),
      of_lane_(database, sql::kOfLane),
      count_before_(database, sql::kPosition),
      written_up_to_(database, sql::kWrittenUpTo) {}

void SqliteClaimable::load() {
  recent_.clear();
  added_ = 0;
  is_changed_ = false;
  moved_to_.reset();
  written_to_ = database_.number("SELECT written_to FROM settings").value_or(0);
  newest_ = round_ = database_.number("SELECT max(seq) FROM jobs").value_or(0);
  Statement recent(database_, sql::kRecentClaimable);
  Rows rows = recent.with(written_to_);
  while (rows.next()) recent_.insert(read_entry(rows));
}

bool SqliteClaimable::is_behind() const {
  return recent_.size() > kMostRecent || newest_ - written_to_ > kMostNumbers;
}

void SqliteClaimable::write() {
  if (is_behind()) move(std::max(added_, kMovedAtLeast));
  added_ = 0;
  if (!is_changed_) return;
  written_up_to_.execute(written_to_);
  is_changed_ = false;
}

void SqliteClaimable::move(std::size_t count) {
  auto at = moved_to_ ? recent_.upper_bound(*moved_to_) : recent_.begin();
  moved_.clear();
  for (; count > 0 && at != recent_.end(); --count) {
    moved_.push_back(*at);
    at = recent_.erase(at);
  }
  write_down(moved_);
  if (!moved_.empty()) moved_to_ = moved_.back();
  if (at != recent_.end()) return;
  written_to_ = round_;
  is_changed_ = true;
  round_ = newest_;
  moved_to_.reset();
}

void SqliteClaimable::write_down(std::span<const Entry> entries) {
  RowInserts::divide(entries, [this](std::span<const Entry> part) {
    insert_.insert(part, [](Rows& rows, const Entry& entry) {
      rows.add(entry.rank, entry.route, entry.tenant, entry.due, entry.seq);
    });
  });
}

// SQLite reuses numbers once the jobs with the highest ones are deleted. A blocked job has no entry
// yet, and its later entry may exist only in memory: `written_to_` must not say that it is in the
// table.
void SqliteClaimable::accepted(std::int64_t seq) {
  newest_ = seq;
  round_ = std::min(round_, seq - 1);
  if (written_to_ < seq) return;
  written_to_ = seq - 1;
  is_changed_ = true;
}

void SqliteClaimable::add_new(const Entry& entry) {
  recent_.insert(entry);
  ++added_;
}

void SqliteClaimable::add_again(const Entry& entry) {
  if (entry.seq <= round_) return write_down({&entry, 1});
  recent_.insert(entry);
  ++added_;
}

void SqliteClaimable::remove(const Entry& entry) {
  if (recent_.erase(entry) > 0) return;
  delete_.execute(entry.rank, entry.route, entry.tenant, entry.due, entry.seq);
}

void SqliteClaimable::turn_back(std::int64_t now, std::int64_t by) {
  Statement table(database_, sql::kTurnBackClaimable);
  table.execute(now, by);
  std::set<Entry> turned;
  for (Entry entry : recent_) {
    if (entry.due > now) entry.due -= by;
    turned.insert(entry);
  }
  recent_ = std::move(turned);
  moved_to_.reset();  // some entries may now be before it
}

std::optional<SqliteClaimable::Entry> SqliteClaimable::next_lane(const Entry& of_lane) {
  const Entry behind = behind_lane(of_lane);
  std::optional<Entry> next;
  if (Rows rows = next_lane_.with(of_lane.rank, of_lane.route, of_lane.tenant); rows.next())
    next = read_entry(rows);
  const auto recent = recent_.upper_bound(behind);
  if (recent != recent_.end() && (!next || *recent < *next)) next = *recent;
  return next;
}

std::uint64_t SqliteClaimable::count_before(const Entry& entry, std::uint64_t limit) {
  Rows rows = count_before_.with(entry.rank, entry.route, entry.tenant, entry.due, entry.seq,
                                 static_cast<std::int64_t>(limit));
  std::uint64_t count = rows.next() ? static_cast<std::uint64_t>(rows.number(0)) : 0;
  auto recent = recent_.lower_bound(before_lane(entry));
  for (; count < limit && recent != recent_.end() && *recent < entry; ++recent) ++count;
  return count;
}

SqliteClaimable::Scan::Scan(SqliteClaimable& all, const Entry& of_lane)
    : rows_(all.of_lane_.with(of_lane.rank, of_lane.route, of_lane.tenant)),
      recent_(all.recent_.lower_bound(before_lane(of_lane))),
      recent_end_(all.recent_.upper_bound(behind_lane(of_lane))) {
  read();
}

void SqliteClaimable::Scan::read() {
  written_.reset();
  if (rows_.next()) written_ = read_entry(rows_);
}

// If an entry in memory also has a row, the row is stale: the job is returned only once.
std::optional<SqliteClaimable::Entry> SqliteClaimable::Scan::next() {
  std::optional<Entry> next;
  if (recent_ != recent_end_ && (!written_ || *recent_ <= *written_)) {
    if (written_ == *recent_) read();
    next = *recent_++;
  } else if (written_) {
    next = written_;
    read();
  }
  return next;
}

}  // namespace spillway::store
