// Which jobs of a SQLite store may be claimed: those in its table and those that were accepted
// last, also after a restart, and in a file of the first version.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "store/sqlite/sqlite_claimable.hpp"
#include "store/sqlite/sqlite_schema.hpp"
#include "support/temporary_directory.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {
namespace {

constexpr std::uint64_t kLanes = 5;
// More than are kept in memory alone.
constexpr std::uint64_t kManyJobs = SqliteClaimable::kMostRecent * 5 / 4;

// Job n is of tenant n % kLanes, and due in the order of its number. Its clock is the test's.
class ClaimShop {
 public:
  ClaimShop() { open(); }

  void open() {
    opened_.store.reset();
    opened_ = open_store("sqlite:jobs.db", directory_.path());
    REQUIRE(opened_.store);
    epoch_ = ask(Join{"shop", 24h}).epoch;
  }
  void close() { opened_.store.reset(); }
  // Why another key does not open it; it is closed.
  std::string refusal() const {
    return open_store("sqlite:jobs.db", directory_.path(), Key{{1}}).failure.text;
  }

  void execute(std::vector<Command>& batch) { store::execute(*opened_.store, batch, now_); }
  template <class Verb>
  Verb ask(Verb verb) {
    return store::ask(*opened_.store, std::move(verb), now_);
  }

  static jobs::Lane lane(std::uint64_t tenant) { return {3, "orders", TenantId{tenant}}; }

  void accept(std::uint64_t count, std::optional<jobs::Digest> order = std::nullopt) {
    while (count > 0) {
      std::vector<Command> batch;
      for (; count > 0 && batch.size() < 1000; --count, ++accepted_) {
        Enqueue enqueue;
        enqueue.job.id = job_id(accepted_);
        enqueue.job.lane = lane(accepted_ % kLanes);
        enqueue.job.accepted = now_;
        enqueue.job.expires = now_ + 24h;
        enqueue.job.kept = 1h;
        enqueue.job.order = order;
        enqueue.max_pending = 10'000'000;
        batch.emplace_back(enqueue);
      }
      execute(batch);
    }
  }
  // The next jobs of the tenant, which are then leased.
  std::vector<jobs::JobId> claim(std::uint64_t tenant, std::size_t limit) {
    return ids_of(ask(Claim{epoch_, lane(tenant), limit}));
  }
  bool retry(std::uint64_t n, std::chrono::milliseconds after) {
    Settle settle{epoch_, job_id(n), {}};
    settle.progress.state = jobs::JobState::retrying;
    settle.progress.due = now_ + after;
    settle.progress.attempts = 1;
    return !ask(std::move(settle)).is_lost;
  }
  void cancel(std::uint64_t from, std::uint64_t to) {
    std::vector<Command> batch;
    for (std::uint64_t n = from; n < to; ++n) batch.emplace_back(Cancel{.id = job_id(n)});
    execute(batch);
  }
  std::uint64_t position(std::uint64_t n) { return ask(Find{.id = job_id(n)}).job->position; }
  void pass(std::chrono::milliseconds time) { now_ += time; }

  // What the file says, or is made to say.
  std::int64_t number(const std::string& sql) const {
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open((directory_.path() / "jobs.db").c_str(), &database) == SQLITE_OK);
    std::int64_t found = -1;
    CHECK(sqlite3_exec(
              database, sql.c_str(),
              [](void* into, int, char** values, char**) {
                *static_cast<std::int64_t*>(into) = std::atoll(values[0]);
                return 0;
              },
              &found, nullptr) == SQLITE_OK);
    sqlite3_close(database);
    return found;
  }
  std::int64_t written() const { return number("SELECT count(*) FROM claimable"); }
  // As if all that are there had been moved into the table.
  void write_all() {
    close();
    number("INSERT INTO claimable SELECT rank, route, tenant, due, seq FROM jobs");
    number("UPDATE settings SET written_to = (SELECT max(seq) FROM jobs)");
    open();
  }
  // A row of job n in the table, whatever its state.
  void add_row(std::uint64_t n) const {
    number("INSERT INTO claimable SELECT rank, route, tenant, due, seq FROM jobs WHERE seq = " +
           std::to_string(n + 1));
  }
  // As a file was that was written before there was the table.
  void make_first_version() {
    close();
    number(
        "UPDATE jobs SET ready = CASE WHEN state IN (0, 2) AND blocked = 0 THEN due ELSE NULL END");
    number(
        "CREATE INDEX jobs_claimable ON jobs (rank, route, tenant, ready) WHERE ready IS NOT NULL");
    number("ALTER TABLE settings DROP COLUMN written_to");
    for (const char* table : {"claimable", "recent_keys_0", "recent_keys_1"})
      number(std::string("DROP TABLE ") + table);
    number("PRAGMA user_version = 1");
  }

 private:
  support::TemporaryDirectory directory_;
  jobs::WallTime now_{std::chrono::milliseconds(1'800'000'000'000)};
  Opened opened_;
  Epoch epoch_ = 0;
  std::uint64_t accepted_ = 0;
};

// Those of a tenant in [from, to), in their order.
std::vector<jobs::JobId> jobs_of(std::uint64_t tenant, std::uint64_t from, std::uint64_t to) {
  std::vector<jobs::JobId> ids;
  for (std::uint64_t n = from; n < to; ++n)
    if (n % kLanes == tenant) ids.push_back(job_id(n));
  return ids;
}

void check_all(ClaimShop& shop, std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t tenant = 0; tenant < kLanes; ++tenant) {
    CAPTURE(tenant);
    CHECK(shop.claim(tenant, to) == jobs_of(tenant, from, to));
    CHECK(shop.claim(tenant, 1).empty());
  }
}

}  // namespace

TEST_CASE("jobs are claimed in their order, whether they are in the table or were accepted last") {
  ClaimShop shop;
  shop.accept(kManyJobs);
  const std::int64_t written = shop.written();
  CHECK(written > 0);
  CHECK(written < static_cast<std::int64_t>(kManyJobs));
  SUBCASE("at once") { check_all(shop, 0, kManyJobs); }
  SUBCASE("after a restart") {
    shop.open();
    check_all(shop, 0, kManyJobs);
  }
  SUBCASE("when many were claimed in between") {
    for (std::uint64_t tenant = 0; tenant < kLanes; ++tenant)
      CHECK(shop.claim(tenant, 1000) == jobs_of(tenant, 0, 1000 * kLanes));
    shop.accept(kManyJobs);
    check_all(shop, 1000 * kLanes, 2 * kManyJobs);
    CHECK(shop.written() == 0);
  }
  SUBCASE("after a restart amid a later round through what is in memory") {
    shop.accept(4 * kManyJobs);
    REQUIRE(shop.number("SELECT written_to FROM settings") > 0);
    shop.open();
    check_all(shop, 0, 5 * kManyJobs);
  }
}

TEST_CASE("a job that is claimed soon is never written among those that may be claimed") {
  ClaimShop shop;
  for (std::int64_t accepted = 0; accepted <= SqliteClaimable::kMostNumbers; accepted += 1000) {
    shop.accept(1000);
    for (std::uint64_t tenant = 0; tenant < kLanes; ++tenant)
      REQUIRE(shop.claim(tenant, 1000).size() == 1000 / kLanes);
    REQUIRE(shop.written() == 0);
  }
  // And a restart does not look at all jobs there ever were.
  shop.accept(kLanes);
  shop.accept(kLanes);
  CHECK(shop.number("SELECT max(jobs.seq) - written_to FROM jobs, settings") < 1000);
}

TEST_CASE("a job that waits again may be claimed after a restart, wherever it was") {
  ClaimShop shop;
  SUBCASE("in memory") {
    shop.accept(10);
    CHECK(shop.claim(1, 1) == jobs_of(1, 0, kLanes));
    CHECK(shop.retry(1, 0ms));
    shop.open();
    CHECK(shop.claim(1, 10) == jobs_of(1, 0, 10));
    CHECK(shop.written() == 0);
  }
  SUBCASE("in the table, though a row of it is there") {
    shop.accept(10);
    shop.open();
    CHECK(shop.claim(1, 1) == jobs_of(1, 0, kLanes));
    shop.add_row(1);
    CHECK(shop.retry(1, 0ms));
    CHECK(shop.written() == 1);
    shop.open();
    CHECK(shop.claim(1, 10) == jobs_of(1, 0, 10));
  }
  SUBCASE("in the table") {
    shop.accept(10);
    shop.write_all();
    CHECK(shop.claim(1, 1) == jobs_of(1, 0, kLanes));
    CHECK(shop.written() == 9);
    CHECK(shop.retry(1, 0ms));
    CHECK(shop.written() == 10);
    shop.open();
    CHECK(shop.claim(1, 10) == jobs_of(1, 0, 10));
  }
}

TEST_CASE("a row of a job that does not wait, or is blocked, leases nothing and is removed") {
  ClaimShop shop;
  shop.accept(10);
  shop.accept(2, jobs::Digest{7});  // jobs 10 and 11: the second is blocked
  shop.cancel(1, 2);
  shop.add_row(1);
  shop.add_row(11);
  CHECK(shop.claim(1, 10) == std::vector<jobs::JobId>{job_id(6)});
  CHECK(shop.number("SELECT state FROM jobs WHERE seq = 2") ==
        static_cast<std::int64_t>(jobs::JobState::cancelled));
  CHECK(shop.written() == 0);
  shop.cancel(10, 11);
  CHECK(shop.claim(1, 10) == std::vector<jobs::JobId>{job_id(11)});
}

TEST_CASE("a claim leases a job once though the table still has a row of it") {
  ClaimShop shop;
  shop.accept(10);
  shop.add_row(1);
  shop.add_row(6);
  CHECK(shop.claim(1, 10) == jobs_of(1, 0, 10));
  CHECK(shop.claim(1, 10).empty());
  CHECK(shop.ask(Totals{}).routes.front().by_state[index(jobs::JobState::leased)] == 2);
}

TEST_CASE("a position counts jobs in the table and those that were accepted last") {
  ClaimShop shop;
  shop.accept(kManyJobs);
  for (std::uint64_t tenant = 0; tenant < kLanes; ++tenant) shop.claim(tenant, 2000);
  const std::uint64_t first = 2000 * kLanes;
  CHECK(shop.position(first) == 1);
  CHECK(shop.position(first + 700 * kLanes) == 701);
  CHECK(shop.position(first + (kLastPosition + 1) * kLanes) == 0);
}

TEST_CASE("numbers of jobs that are given anew lose no job") {
  ClaimShop shop;
  shop.accept(1000);
  shop.write_all();
  shop.cancel(0, 1000);
  shop.pass(2h);
  shop.ask(Sweep{2000});
  REQUIRE(shop.number("SELECT count(*) FROM jobs") == 0);
  shop.open();
  shop.accept(100);
  CHECK(shop.number("SELECT max(seq) FROM jobs") == 100);
  SUBCASE("at once") {}
  SUBCASE("after a restart") { shop.open(); }
  check_all(shop, 1000, 1100);
}

TEST_CASE("a number that is given anew to a blocked job does not lose it") {
  ClaimShop shop;
  shop.accept(1, jobs::Digest{7});
  shop.accept(1000);
  shop.write_all();
  shop.cancel(1, 1001);
  shop.pass(2h);
  shop.ask(Sweep{2000});
  REQUIRE(shop.number("SELECT count(*) FROM jobs") == 1);
  shop.open();
  shop.accept(1, jobs::Digest{7});
  CHECK(shop.number("SELECT max(seq) FROM jobs WHERE blocked = 1") == 2);
  shop.cancel(0, 1);
  shop.open();
  CHECK(shop.claim(1001 % kLanes, 10) == std::vector<jobs::JobId>{job_id(1001)});
}

TEST_CASE("a clock that is set back leaves the order of jobs that may be claimed") {
  ClaimShop shop;
  shop.accept(kManyJobs);
  shop.pass(-1h);
  shop.accept(10);
  SUBCASE("at once") {}
  SUBCASE("after a restart") { shop.open(); }
  check_all(shop, 0, kManyJobs + 10);
}

TEST_CASE("a file of the first version with jobs of another key is not migrated") {
  ClaimShop shop;
  shop.accept(1);
  shop.make_first_version();
  CHECK(shop.refusal().find("another key_file") != std::string::npos);
  CHECK(shop.number("PRAGMA user_version") == 1);
}

TEST_CASE("what may be claimed in a file of the first version may be claimed") {
  ClaimShop shop;
  shop.accept(100);
  CHECK(shop.claim(0, 4) == jobs_of(0, 0, 20));
  CHECK(shop.retry(0, 1h));
  shop.accept(2, jobs::Digest{7});  // jobs 100 and 101; 101 is blocked
  shop.make_first_version();
  shop.open();
  CHECK(shop.number("PRAGMA user_version") == kJobTables.newest());
  CHECK(shop.written() == 100 - 4 + 1 + 1);
  shop.accept(3);
  CHECK(shop.claim(2, 100) == jobs_of(2, 0, 105));
  CHECK(shop.claim(1, 100) == jobs_of(1, 0, 100));
  shop.cancel(100, 101);
  CHECK(shop.claim(1, 100) == std::vector<jobs::JobId>{job_id(101)});
  shop.pass(1h);
  CHECK(shop.claim(0, 100).back() == job_id(0));
}

}  // namespace spillway::store
