// A start with many jobs pending takes no longer than with few, but for those that were accepted
// last: what SQLite does is counted, not timed.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "store/sqlite/sqlite_claimable.hpp"
#include "support/temporary_directory.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {
namespace {

const jobs::WallTime kStartedAt{std::chrono::milliseconds(1'800'000'000'000)};

// The steps of SQLite's machine that all connections of this process take, as long as it lives.
class Steps {
 public:
  Steps() {
    taken = 0;
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(watch));
  }
  ~Steps() { sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(watch)); }
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  static std::uint64_t so_far() { return taken; }

 private:
  static int watch(sqlite3* database, const char**, const void*) {
    return sqlite3_trace_v2(database, SQLITE_TRACE_PROFILE, ended, nullptr);
  }
  static int ended(unsigned, void*, void* statement, void*) {
    const int steps =
        sqlite3_stmt_status(static_cast<sqlite3_stmt*>(statement), SQLITE_STMTSTATUS_VM_STEP, 1);
    taken += static_cast<std::uint64_t>(steps);
    return 0;
  }

  static inline std::uint64_t taken = 0;
};

using DatabaseFile = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;

DatabaseFile open_file(const support::TemporaryDirectory& directory) {
  sqlite3* opened = nullptr;
  REQUIRE(sqlite3_open((directory.path() / "jobs.db").c_str(), &opened) == SQLITE_OK);
  return {opened, &sqlite3_close};
}

// So many jobs of 16 tenants wait. The last ones are not in the table of claimable jobs. The file
// is too large to be checked at each start.
void fill_file(const support::TemporaryDirectory& directory, std::uint64_t jobs) {
  REQUIRE(open_store("sqlite:jobs.db", directory.path()).store);
  const DatabaseFile file = open_file(directory);
  const std::string count = std::to_string(jobs), now = std::to_string(1'800'000'000'000);
  const std::string written = std::to_string(jobs - SqliteClaimable::kMostRecent);
  const std::string filling =
      "BEGIN; INSERT INTO routes (id, name, queued) VALUES (1, 'orders', " + count +
      "); WITH RECURSIVE i (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < " + count +
      ") INSERT INTO jobs SELECT n, randomblob(16), 3, 1, n % 16, 'acme', 0, " + now +
      ", NULL, 0, 0, 0, NULL, NULL, 0, " + now + ", " + now +
      " + 3600000, 3600000, NULL, NULL, NULL," +
      " 'POST', '/orders', 1, 0 FROM i; INSERT INTO requests SELECT seq, 'head', 'x' FROM jobs;" +
      " INSERT INTO claimable SELECT rank, route, tenant, due, seq FROM jobs WHERE seq <= " +
      written + "; UPDATE settings SET written_to = " + written +
      "; UPDATE requests SET body = zeroblob(34000000) WHERE seq = 1; COMMIT";
  char* error = nullptr;
  const int code = sqlite3_exec(file.get(), filling.c_str(), nullptr, nullptr, &error);
  REQUIRE_MESSAGE(code == SQLITE_OK, (error == nullptr ? "" : error));
}

template <class Verb>
Verb answer_to(JobStore& store, Verb verb) {
  Command command = std::move(verb);
  Command* const batch[] = {&command};
  REQUIRE_FALSE(store.execute(batch, kStartedAt));
  return std::get<Verb>(std::move(command));
}

// What a proxy does until its first jobs are in its hands and its first request is written down.
std::uint64_t steps_of_start(const support::TemporaryDirectory& directory) {
  const Steps steps;
  const Opened opened = open_store("sqlite:jobs.db", directory.path());
  REQUIRE(opened.store);
  JobStore& store = *opened.store;
  const Epoch epoch = answer_to(store, Join{"proxy", 1h}).epoch;
  answer_to(store, Sweep{.limit = 1000});
  answer_to(store, Totals{});
  const Lanes lanes = answer_to(store, Lanes{.limit = 1024});
  REQUIRE(lanes.found.size() == 16);
  CHECK(answer_to(store, Claim{epoch, lanes.found.back().lane, 16}).jobs.size() == 16);
  Enqueue enqueue{.max_pending = 100'000'000, .is_in_share = true};
  enqueue.job.id = job_id(1);
  enqueue.job.lane = lanes.found.front().lane;
  enqueue.job.accepted = kStartedAt;
  enqueue.job.expires = kStartedAt + 1h;
  CHECK(answer_to(store, enqueue).result == Enqueue::Result::accepted);
  answer_to(store, KnowsKey{.scope = {1}});
  answer_to(store, Renew{.epoch = epoch, .lease = 1h});
  return steps.so_far();
}

}  // namespace

TEST_CASE("a start takes as many steps with 120,000 jobs pending as with 20,000") {
  const support::TemporaryDirectory few, many;
  fill_file(few, 20'000);
  fill_file(many, 120'000);
  const std::uint64_t with_few = steps_of_start(few), with_many = steps_of_start(many);
  CAPTURE(with_few);
  CAPTURE(with_many);
  CHECK(with_few > SqliteClaimable::kMostRecent);
  CHECK(with_many < with_few + with_few / 10);
}

TEST_CASE("control: a statement that goes through all of them is seen") {
  const support::TemporaryDirectory many;
  fill_file(many, 100'000);
  const Steps steps;
  const DatabaseFile file = open_file(many);
  sqlite3_exec(file.get(), "SELECT count(*) FROM jobs WHERE due > 0", nullptr, nullptr, nullptr);
  CHECK(steps.so_far() > 100'000);
}

}  // namespace spillway::store
