// The write-ahead log of a SQLite store: it does not grow with what is written.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "store/sqlite/sqlite_checkpoint.hpp"
#include "support/temporary_directory.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {
namespace {

using std::filesystem::path;

constexpr std::uintmax_t kCap = SqliteCheckpoint::kMostBytes;
// One transaction of this test and what frames add to pages.
constexpr std::uintmax_t kMore = 8 << 20;

const jobs::WallTime kNow{std::chrono::milliseconds(1'800'000'000'000)};

void enqueue(JobStore& store, std::uint64_t n) {
  Enqueue enqueue;
  enqueue.job.id = job_id(n);
  enqueue.job.lane.route = "orders";
  enqueue.job.body = std::string(2 << 20, 'b');
  enqueue.job.accepted = kNow;
  enqueue.job.expires = kNow + 1h;
  enqueue.max_pending = 1'000'000;
  Command command = std::move(enqueue);
  Command* const batch[] = {&command};
  REQUIRE_FALSE(store.execute(batch, kNow));
}

// The longest that the log was while so much was written without a pause.
std::uintmax_t longest_log(JobStore& store, const path& log, std::uintmax_t bytes) {
  static std::uint64_t n = 0;
  std::uintmax_t longest = 0;
  for (std::uintmax_t written = 0; written < bytes; written += 2 << 20) {
    enqueue(store, n++);
    longest = std::max(longest, std::filesystem::file_size(log));
  }
  return longest;
}

// Another process that reads the file, and has not come to its end.
class Reader {
 public:
  explicit Reader(const path& file) {
    sqlite3* opened = nullptr;
    REQUIRE(sqlite3_open(file.c_str(), &opened) == SQLITE_OK);
    database_.reset(opened);
    CHECK(sqlite3_exec(opened, "BEGIN; SELECT count(*) FROM sqlite_schema", nullptr, nullptr,
                       nullptr) == SQLITE_OK);
  }

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
  };
  std::unique_ptr<sqlite3, Close> database_;
};

// So many jobs of 1 MiB, dead from the beginning, to be forgotten at once.
void bury(JobStore& store, std::uint64_t jobs) {
  for (std::uint64_t n = 0; n < jobs; ++n) {
    Bury bury;
    bury.job.id = job_id(n);
    bury.job.lane.route = "orders";
    bury.job.body = std::string(1 << 20, 'b');
    bury.job.accepted = bury.job.expires = kNow;
    bury.cause = jobs::Cause::expired_in_queue;
    Command command = std::move(bury);
    Command* const batch[] = {&command};
    REQUIRE_FALSE(store.execute(batch, kNow));
  }
}

// All that is to be forgotten.
std::uint64_t sweep(JobStore& store) {
  std::uint64_t forgotten = 0;
  for (bool has_more = true; has_more;) {
    Command command = Sweep{.limit = 1000};
    Command* const batch[] = {&command};
    REQUIRE_FALSE(store.execute(batch, kNow + 1s));
    forgotten += std::get<Sweep>(command).forgotten;
    has_more = std::get<Sweep>(command).has_more;
  }
  return forgotten;
}

}  // namespace

TEST_CASE("to forget jobs does not write their bodies once more") {
  constexpr std::uint64_t kJobs = 40;
  const support::TemporaryDirectory directory;
  const path log = directory.path() / "jobs.db-wal";
  Opened opened = open_store("sqlite:jobs.db", directory.path());
  REQUIRE(opened.store);
  bury(*opened.store, kJobs);
  CHECK_MESSAGE(std::filesystem::file_size(log) > kJobs << 20, "the control");
  opened.store.reset();
  opened = open_store("sqlite:jobs.db", directory.path());
  REQUIRE(opened.store);
  CHECK(sweep(*opened.store) == kJobs);
  CHECK(std::filesystem::file_size(log) < kJobs << 15);  // a 32nd
}

TEST_CASE("the log stays below its cap, unless a reader from outside holds it open") {
  const support::TemporaryDirectory directory;
  const path file = directory.path() / "jobs.db", log = directory.path() / "jobs.db-wal";
  const Opened opened = open_store("sqlite:jobs.db", directory.path());
  REQUIRE(opened.store);
  CHECK(longest_log(*opened.store, log, kCap + kCap / 2) < kCap + kMore);
  std::uintmax_t with_reader = 0;
  {
    const Reader reader(file);  // the control
    with_reader = longest_log(*opened.store, log, 2 * kCap);
    CHECK(with_reader > 2 * kCap);
  }
  // An eighth later it is tried again. Then the file is cut to what it may have.
  CHECK(longest_log(*opened.store, log, kCap / 4) < with_reader + kCap / 8 + kMore);
  CHECK(std::filesystem::file_size(log) < kCap + kCap / 4 + kMore);
  CHECK(longest_log(*opened.store, log, kCap + kCap / 2) < kCap + kCap / 4 + kMore);
}

}  // namespace spillway::store
