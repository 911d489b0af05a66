#include "store/sqlite/sqlite_store.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "store/sqlite/sqlite.hpp"
#include "store/sqlite/sqlite_schema.hpp"
#include "store/sqlite/sqlite_sql.hpp"
#include "store/sqlite/sqlite_time.hpp"

namespace spillway::store {

using jobs::WallTime;

namespace {

// quick_check reads the whole file, at some 500 MB/s, so a large file would delay the start. Only a
// small one is checked.
constexpr std::int64_t kMostChecked = std::int64_t{32} << 20;

// secure_delete: Debian's SQLite overwrites deleted content with zeros, which writes each body once
// more, into the log. FAST does it only on pages that are written anyway; freed pages keep their
// content until they are reused.
//
// journal_size_limit: a restarted log is truncated to that, a quarter more than the cap, which it
// exceeds only while a reader in another process blocks it.
constexpr const char* kSettings =
    "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA temp_store = MEMORY;"
    "PRAGMA cache_size = -65536; PRAGMA foreign_keys = OFF; PRAGMA secure_delete = FAST;"
    "PRAGMA journal_size_limit = 167772160";
static_assert(SqliteCheckpoint::kMostBytes + SqliteCheckpoint::kMostBytes / 4 == 167'772'160);

}  // namespace

SqliteStore::SqliteStore(FileLock lock)
    : lock_(std::move(lock)),
      ledger_(database_),
      keys_(database_),
      claimable_(database_),
      records_(database_, ledger_, keys_, claimable_),
      enqueue_(database_, ledger_, keys_, claimable_, records_),
      claim_(database_, ledger_, claimable_),
      change_(database_, records_, keys_),
      view_(database_, ledger_, claimable_, records_),
      begin_(database_, sql::kBegin),
      commit_(database_, sql::kCommit),
      // Free pages are reused before the file grows.
      bytes_(database_,
             "SELECT (page_count - freelist_count) * page_size"
             " FROM pragma_page_count, pragma_freelist_count, pragma_page_size"),
      oldest_letter_(database_, sql::kOldestLetter),
      newest_(database_, sql::kNewest),
      turn_back_(database_, sql::kTurnBack),
      checkpoint_(database_) {}

SqliteStore::~SqliteStore() = default;

std::optional<Failure> SqliteStore::open(const std::filesystem::path& file, const KeyMark& mark) {
  if (!database_.open(file.string())) return database_.failure();
  // Until the file is known to be a Spillway store, closing it must not write to it.
  sqlite3_db_config(database_.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  const std::int64_t version = database_.number("PRAGMA user_version").value_or(0);
  if (version > kJobTables.newest()) {
    return Failure{Failure::Kind::newer_version,
                   file.string() + " was written by a later version of Spillway (schema " +
                       std::to_string(version) + ", this one knows " +
                       std::to_string(kJobTables.newest()) + ")"};
  }
  std::optional<Failure> failure;
  check(file, failure);
  if (failure) return failure;
  database_.run(kSettings);
  const std::string mode = database_.text("PRAGMA journal_mode = WAL");
  if (!database_.failed() && mode != "wal") {
    return Failure{Failure::Kind::unavailable,
                   file.string() + ": its file system allows no write-ahead log"};
  }
  // A refused file must not be migrated. One of version 0 has no tables yet.
  const bool is_same_key = version == 0 || is_of(mark);
  if (is_same_key) {
    migrate(database_, kJobTables);
    keep_mark(mark);
    load();
  }
  if (database_.failed()) return database_.failure();
  if (!is_same_key) {
    return Failure{Failure::Kind::corrupt,
                   file.string() +
                       " has jobs that were written with another key_file, or with none; "
                       "nothing was written to it"};
  }
  sqlite3_db_config(database_.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  if (!checkpoint_.start(file.string())) return checkpoint_.failure();
  return std::nullopt;
}

void SqliteStore::check(const std::filesystem::path& file, std::optional<Failure>& failure) {
  const std::int64_t pages = database_.number("PRAGMA page_count").value_or(0);
  const std::int64_t bytes = pages * database_.number("PRAGMA page_size").value_or(0);
  if (bytes <= kMostChecked) {
    const std::string found = database_.text("PRAGMA quick_check(1)");
    if (!database_.failed() && found != "ok") {
      failure = {Failure::Kind::corrupt,
                 file.string() + " is damaged (" + found + "); nothing was written to it"};
    }
  }
  if (database_.failed()) failure = database_.failure();
}

std::optional<KeyMark> SqliteStore::kept_mark() {
  Statement read(database_, "SELECT key_mark FROM settings WHERE one = 1");
  Rows rows = read.with();
  if (!rows.next()) return std::nullopt;
  KeyMark mark{};
  rows.read(0, mark);
  return mark;
}

// false: the file has jobs written with another key.
bool SqliteStore::is_of(const KeyMark& mark) {
  const std::optional<KeyMark> kept = kept_mark();
  return !kept || *kept == mark || !database_.number("SELECT 1 FROM jobs LIMIT 1");
}

void SqliteStore::keep_mark(const KeyMark& mark) {
  if (kept_mark() == mark) return;
  Statement write(database_, "INSERT OR REPLACE INTO settings (one, key_mark) VALUES (1, ?1)");
  write.execute(blob(mark));
}

void SqliteStore::load() {
  ledger_.load();
  keys_.load();
  claimable_.load();
  enqueue_.load();
  if (Rows newest = newest_.with(); newest.next()) clock_.saw(time_of(newest.number(0)));
  is_loaded_ = !database_.failed();
}

void SqliteStore::turn_back(WallTime now) {
  const std::chrono::milliseconds by = clock_.back(now);
  if (by.count() <= 0) return;
  turn_back_.execute(number_of(now), std::int64_t{by.count()});
  claimable_.turn_back(number_of(now), by.count());
}

std::optional<Failure> SqliteStore::execute(std::span<Command* const> batch, WallTime now) {
  if (checkpoint_.has_failed())
    return Failure{Failure::Kind::unavailable,
                   "the disk has failed to flush the file of jobs, restart Spillway once it works"};
  database_.forgive();
  checkpoint_.keep_short();
  if (!is_loaded_) load();
  begin_.execute();
  claim_.begin();
  turn_back(now);
  for (Command* command : batch) {
    if (database_.failed()) break;
    dispatch(*command, now);
  }
  enqueue_.write();
  ledger_.write();
  keys_.write();
  claimable_.write();
  commit_.execute();
  if (database_.failed()) {
    const Failure failure = database_.failure();
    if (failure.kind == Failure::Kind::full) checkpoint_.want_space();
    roll_back();
    return failure;
  }
  clock_.settled(now);
  checkpoint_.wrote();
  return std::nullopt;
}

void SqliteStore::roll_back() {
  is_loaded_ = false;
  if (sqlite3_get_autocommit(database_.handle()) != 0) return;
  sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void SqliteStore::dispatch(Command& command, WallTime now) {
  std::visit(
      [&](auto& verb) {
        using Verb = std::decay_t<decltype(verb)>;
        constexpr bool kIsEnqueues = std::is_invocable_v<SqliteEnqueue&, Verb&, WallTime>;
        if constexpr (!kIsEnqueues) enqueue_.write();
        if constexpr (kIsEnqueues) {
          enqueue_(verb, now);
        } else if constexpr (std::is_same_v<Verb, Lanes> || std::is_same_v<Verb, Claim>) {
          claim_(verb, now);
        } else if constexpr (std::is_same_v<Verb, Totals>) {
          total(verb, now);
        } else if constexpr (std::is_same_v<Verb, Replay>) {
          view_(verb, now);
        } else if constexpr (std::is_invocable_v<SqliteView&, Verb&>) {
          view_(verb);
        } else {
          change_(verb, now);
        }
      },
      command);
}

void SqliteStore::total(Totals& command, WallTime now) {
  command.routes.clear();
  const SqliteClaim::OldestDue& oldest = claim_.oldest_due();
  for (const auto& [id, route] : ledger_.routes()) {
    Totals::Route& total = command.routes.emplace_back();
    total.route = route.name;
    for (std::size_t state = 0; state < route.by_state.size(); ++state) {
      total.by_state[state] =
          static_cast<std::uint64_t>(std::max<std::int64_t>(0, route.by_state[state]));
    }
    const auto found = oldest.find(id);
    if (found != oldest.end() && found->second <= now) total.oldest_claimable = found->second;
  }
  Rows letter = oldest_letter_.with();
  command.oldest_letter = letter.next() ? time_of(letter.number(0)) : jobs::kNoTime;
  Rows rows = bytes_.with();
  if (rows.next()) command.bytes = static_cast<std::uint64_t>(rows.number(0));
}

Opened open_sqlite(const std::filesystem::path& file, const KeyMark& mark) {
  FileLock lock;
  if (auto failure = lock.take(file)) return {nullptr, *failure};
  if (auto failure = prepare_file(file, kJobTables)) return {nullptr, *failure};
  auto store = std::make_unique<SqliteStore>(std::move(lock));
  if (auto failure = store->open(file, mark)) return {nullptr, *failure};
  return {std::move(store), {}};
}

}  // namespace spillway::store
