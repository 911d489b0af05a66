// What SQLite has acknowledged is on the disk: the log is flushed within the commit.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <string>

#include "support/temporary_directory.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {
namespace {

// SQLite's way to the operating system, which counts how often a thread has flushed a log. That of
// checkpoints is flushed by a thread of its own. Once made it stays the default: its files may be
// open.
class CountingSystem {
 public:
  static void install() {
    static CountingSystem system;
    REQUIRE(sqlite3_vfs_register(&system.vfs_, 1) == SQLITE_OK);
  }
  // By this thread.
  static int flushes() { return flushes_; }

 private:
  CountingSystem() : vfs_(*sqlite3_vfs_find(nullptr)) {
    open_ = vfs_.xOpen;
    vfs_.zName = "counting";
    vfs_.xOpen = &CountingSystem::open;
  }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
    const int code = open_(vfs, name, file, flags, out);
    if (code != SQLITE_OK || (flags & SQLITE_OPEN_WAL) == 0) return code;
    // A copy for each log, since those of other files keep theirs.
    static const sqlite3_io_methods* const original = file->pMethods;
    static const sqlite3_io_methods counting = [] {
      sqlite3_io_methods methods = *original;
      methods.xSync = [](sqlite3_file* log, int how) {
        ++flushes_;
        return original->xSync(log, how);
      };
      return methods;
    }();
    if (file->pMethods == original) file->pMethods = &counting;
    return code;
  }

  static inline int (*open_)(sqlite3_vfs*, const char*, sqlite3_file*, int, int*) = nullptr;
  static inline thread_local int flushes_ = 0;

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

}  // namespace spillway::store
