// The query plans of the hot statements: their cost does not depend on how many jobs there are.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <string>
#include <vector>

#include "store/sqlite/sqlite_sql.hpp"
#include "support/temporary_directory.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {
namespace {

class Plans {
 public:
  Plans() {
    REQUIRE(open_store("sqlite:jobs.db", directory_.path()).store);
    REQUIRE(sqlite3_open((directory_.path() / "jobs.db").c_str(), &database_) == SQLITE_OK);
  }
  ~Plans() { sqlite3_close(database_); }
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;

  std::string of(const std::string& sql) {
    std::string plan;
    sqlite3_stmt* statement = nullptr;
    REQUIRE(sqlite3_prepare_v2(database_, ("EXPLAIN QUERY PLAN " + sql).c_str(), -1, &statement,
                               nullptr) == SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW) {
      plan += reinterpret_cast<const char*>(sqlite3_column_text(statement, 3));
      plan += '\n';
    }
    sqlite3_finalize(statement);
    return plan;
  }

 private:
  support::TemporaryDirectory directory_;
  sqlite3* database_ = nullptr;
};

bool reads_all(const std::string& plan) {
  // What scans an index of its own jobs only, in the index's order, is bounded by its LIMIT or by
  // who reads its rows; a subquery that was limited before is counted whole.
  for (const char* wrong : {"SCAN jobs\n", "SCAN attempts", "SCAN requests", "SCAN answers",
                            "SCAN claimable", "SCAN proxies", "TEMP B-TREE"}) {
    if (plan.find(wrong) != std::string::npos) return true;
  }
  return false;
}

bool scans_jobs(const std::string& plan) { return plan.find("SCAN jobs") != std::string::npos; }

}  // namespace

TEST_CASE("no hot statement scans a table or sorts") {
  Plans plans;
  for (const char* sql : sql::kHot) {
    const std::string plan = plans.of(sql);
    CAPTURE(sql);
    CAPTURE(plan);
    CHECK_FALSE(reads_all(plan));
    CHECK_FALSE(scans_jobs(plan));
  }
}

TEST_CASE("the length of a job's content is found by its number") {
  Plans plans;
  const std::string plan = plans.of(sql::kContentBytes);
  CAPTURE(plan);
  CHECK_FALSE(reads_all(plan));
  CHECK(plan.find("SEARCH requests USING INTEGER PRIMARY KEY") != std::string::npos);
  CHECK(plan.find("SEARCH answers USING INTEGER PRIMARY KEY") != std::string::npos);
}

TEST_CASE("the check of query plans sees a scan and a sort") {
  Plans plans;
  CHECK(reads_all(plans.of("SELECT count(*) FROM jobs NOT INDEXED WHERE state = 0")));
  CHECK(
      reads_all(plans.of("SELECT seq FROM claimable WHERE rank = 1 AND route = 1 AND tenant = 1"
                         " AND due <= 5 ORDER BY seq")));
  CHECK(reads_all(plans.of("SELECT seq FROM claimable WHERE due <= 5")));
  CHECK(scans_jobs(plans.of("SELECT id FROM jobs WHERE tenant_name = 'a'")));
}

TEST_CASE("a claim searches its lane among the claimable jobs") {
  Plans plans;
  const std::string plan = plans.of(sql::kOfLane);
  CAPTURE(plan);
  CHECK(plan.find("claimable USING PRIMARY KEY (rank=? AND route=? AND tenant=?)") !=
        std::string::npos);
  const std::string claimed = plans.of(sql::kClaimed);
  CAPTURE(claimed);
  CHECK(claimed.find("SEARCH jobs USING INTEGER PRIMARY KEY") != std::string::npos);
  CHECK(claimed.find("SEARCH requests USING INTEGER PRIMARY KEY") != std::string::npos);
  const std::string ordered = plans.of(sql::kHasOrdered);
  CAPTURE(ordered);
  CHECK(ordered.find("jobs_ordered (route=? AND ordered=?)") != std::string::npos);
  const std::string lane = plans.of(sql::kNextLane);
  CAPTURE(lane);
  CHECK(lane.find("claimable USING PRIMARY KEY ((rank,route,tenant,due)>(?,?,?,?))") !=
        std::string::npos);
  const std::string recent = plans.of(sql::kRecentClaimable);
  CAPTURE(recent);
  CHECK(recent.find("SEARCH jobs USING INTEGER PRIMARY KEY (rowid>?)") != std::string::npos);
  CHECK(recent.find("SCAN") == std::string::npos);
}

}  // namespace spillway::store
