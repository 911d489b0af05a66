// What SQLite has acknowledged is on the disk: the log is flushed within the commit. And when the
// file is flushed.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "support/temporary_directory.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {
namespace {

// SQLite's way to the operating system, which counts how often a thread has flushed a log, and how
// often any has flushed a database. That of checkpoints is flushed by a thread of its own. Once
// made it stays the default: its files may be open.
class CountingSystem {
 public:
  static void install() {
    static CountingSystem system;
    REQUIRE(sqlite3_vfs_register(&system.vfs_, 1) == SQLITE_OK);
  }
  // By this thread.
  static int flushes() { return flushes_; }
  // Of databases, by all threads.
  static int file_flushes() {
    const std::lock_guard lock(mutex_);
    return file_flushes_;
  }
  // The next flush of a database fails, and those after it succeed, as the kernel has it.
  static void fail_next() { fails_ = true; }
  // Whether there are more than that, within ten seconds.
  static bool await_file_flush(int before) {
    std::unique_lock lock(mutex_);
    return flushed_.wait_for(lock, 10s, [&] { return file_flushes_ > before; });
  }

 private:
  CountingSystem() : vfs_(*sqlite3_vfs_find(nullptr)) {
    open_ = vfs_.xOpen;
    vfs_.zName = "counting";
    vfs_.xOpen = &CountingSystem::open;
  }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
    const int code = open_(vfs, name, file, flags, out);
    if (code == SQLITE_OK && (flags & SQLITE_OPEN_WAL) != 0) count<true>(file);
    if (code == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB) != 0) count<false>(file);
    return code;
  }

  // A copy of the methods for each kind, since those of other files keep theirs.
  template <bool is_log>
  static void count(sqlite3_file* file) {
    static const sqlite3_io_methods* const original = file->pMethods;
    static const sqlite3_io_methods counting = [] {
      sqlite3_io_methods methods = *original;
      methods.xSync = [](sqlite3_file* flushed, int how) {
        const bool fails = !is_log && fails_.exchange(false);
        const int code = fails ? SQLITE_IOERR_FSYNC : original->xSync(flushed, how);
        is_log ? ++flushes_ : note_file_flush();
        return code;
      };
      return methods;
    }();
    if (file->pMethods == original) file->pMethods = &counting;
  }

  static int note_file_flush() {
    const std::lock_guard lock(mutex_);
    flushed_.notify_all();
    return ++file_flushes_;
  }

  static inline int (*open_)(sqlite3_vfs*, const char*, sqlite3_file*, int, int*) = nullptr;
  static inline thread_local int flushes_ = 0;
  static inline std::mutex mutex_;
  static inline std::condition_variable flushed_;
  static inline int file_flushes_ = 0;
  static inline std::atomic<bool> fails_{false};

  sqlite3_vfs vfs_;
};

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
using Connection = std::unique_ptr<sqlite3, Close>;

// How often a commit with this setting flushes the log. Not the first one, which begins a log.
int flushes_of_a_commit(sqlite3* database, const std::string& synchronous) {
  const auto run = [&](const std::string& sql) {
    REQUIRE(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  };
  run("PRAGMA synchronous = " + synchronous);
  run("INSERT INTO proxies (name, until) VALUES ('first', 1)");
  const int before = CountingSystem::flushes();
  run("INSERT INTO proxies (name, until) VALUES ('second', 1)");
  return CountingSystem::flushes() - before;
}

}  // namespace

TEST_CASE("a job is acknowledged after its log was flushed to the disk, each batch anew") {
  CountingSystem::install();
  const support::TemporaryDirectory directory;
  const Opened opened = open_store("sqlite:jobs.db", directory.path());
  REQUIRE(opened.store);
  const jobs::WallTime now{1'800'000'000'000ms};
  const auto flushes_of = [&](Command command) {
    const int before = CountingSystem::flushes();
    Command* const batch[] = {&command};
    REQUIRE_FALSE(opened.store->execute(batch, now));
    return CountingSystem::flushes() - before;
  };
  CHECK(flushes_of(Join{"proxy", 1h}) > 0);
  for (std::uint64_t n = 0; n < 20; ++n) {
    Enqueue enqueue;
    enqueue.job.id = job_id(n);
    enqueue.job.lane.route = "orders";
    enqueue.job.expires = now + 1h;
    enqueue.max_pending = 100;
    CHECK(flushes_of(enqueue) > 0);
  }
  CHECK(flushes_of(Claim{1, {0, "orders", {}}, 1}) > 0);
  CHECK(flushes_of(Settle{1, job_id(0), {jobs::JobState::succeeded}}) > 0);
}

// The control: the same count sees a commit that a machine which loses its power forgets.
TEST_CASE("without synchronous=FULL a commit flushes nothing") {
  CountingSystem::install();
  const support::TemporaryDirectory directory;
  REQUIRE(open_store("sqlite:jobs.db", directory.path()).store);
  sqlite3* opened = nullptr;
  REQUIRE(sqlite3_open((directory.path() / "jobs.db").c_str(), &opened) == SQLITE_OK);
  const Connection connection(opened);
  CHECK(flushes_of_a_commit(opened, "NORMAL") == 0);
  CHECK(flushes_of_a_commit(opened, "FULL") == 1);
}

namespace {

constexpr jobs::WallTime kNow{1'800'000'000'000ms};

// More pages than are worth a checkpoint.
void enqueue_much(JobStore& store, std::uint64_t n) {
  Enqueue enqueue;
  enqueue.job.id = job_id(n);
  enqueue.job.lane.route = "orders";
  enqueue.job.body = std::string(8 << 20, 'b');
  enqueue.job.expires = kNow + 1h;
  enqueue.max_pending = 100;
  Command command = std::move(enqueue);
  Command* const batch[] = {&command};
  REQUIRE_FALSE(store.execute(batch, kNow));
}

// Keeps a checkpoint from the end of a log that goes on.
Connection reader_of(const std::filesystem::path& file) {
  sqlite3* opened = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &opened) == SQLITE_OK);
  Connection connection(opened);
  REQUIRE(sqlite3_exec(opened, "BEGIN; SELECT count(*) FROM sqlite_schema", nullptr, nullptr,
                       nullptr) == SQLITE_OK);
  return connection;
}

}  // namespace

TEST_CASE("pages that are moved beside commits are flushed at once, not at the log's cap") {
  CountingSystem::install();
  const support::TemporaryDirectory directory;
  const Opened opened = open_store("sqlite:jobs.db", directory.path());
  REQUIRE(opened.store);
  const Connection reader = reader_of(directory.path() / "jobs.db");
  const int before = CountingSystem::file_flushes();
  enqueue_much(*opened.store, 1);
  CHECK(CountingSystem::await_file_flush(before));
}

TEST_CASE("once the disk has failed to flush the file, nothing is written and the log is kept") {
  CountingSystem::install();
  const support::TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "jobs.db";
  int at_the_end = 0;
  {
    const Opened opened = open_store("sqlite:jobs.db", directory.path());
    REQUIRE(opened.store);
    const Connection reader = reader_of(file);
    const int before = CountingSystem::file_flushes();
    CountingSystem::fail_next();
    enqueue_much(*opened.store, 1);
    REQUIRE(CountingSystem::await_file_flush(before));
    std::optional<Failure> failure;
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (!failure && std::chrono::steady_clock::now() < deadline) {
      Command command = Join{"proxy", 1h};
      Command* const batch[] = {&command};
      failure = opened.store->execute(batch, kNow);
    }
    REQUIRE(failure);
    CHECK(failure->kind == Failure::Kind::unavailable);
    at_the_end = CountingSystem::file_flushes();
  }
  CHECK(CountingSystem::file_flushes() == at_the_end);
  CHECK(std::filesystem::file_size(directory.path() / "jobs.db-wal") > 8 << 20);
  sqlite3* opened = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &opened) == SQLITE_OK);
  const Connection connection(opened);
  CHECK(sqlite3_exec(opened, "SELECT 1 / (SELECT count(*) = 1 FROM jobs)", nullptr, nullptr,
                     nullptr) == SQLITE_OK);
}

// The control: SQLite by itself does not.
TEST_CASE("a checkpoint that does not come to the end of the log leaves the file to be flushed") {
  CountingSystem::install();
  const support::TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "jobs.db";
  REQUIRE(open_store("sqlite:jobs.db", directory.path()).store);
  sqlite3* opened = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &opened) == SQLITE_OK);
  const Connection connection(opened);
  const auto write = [&] {
    REQUIRE(sqlite3_exec(opened, "INSERT INTO proxies (name, until) VALUES ('a', 1)", nullptr,
                         nullptr, nullptr) == SQLITE_OK);
  };
  const auto flushes_of_a_checkpoint = [&] {
    const int before = CountingSystem::file_flushes();
    REQUIRE(sqlite3_wal_checkpoint_v2(opened, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr,
                                      nullptr) == SQLITE_OK);
    return CountingSystem::file_flushes() - before;
  };
  write();
  {
    const Connection reader = reader_of(file);
    write();
    CHECK(flushes_of_a_checkpoint() == 0);
  }
  CHECK(flushes_of_a_checkpoint() == 1);
}

}  // namespace spillway::store
