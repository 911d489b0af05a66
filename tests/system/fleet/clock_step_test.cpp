// The clock of the database is set forward.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "support/proxy_under_test.hpp"
#include "system/fleet/fleet.hpp"

using namespace spillway;
using namespace spillway::support;
using nlohmann::json;

namespace {

constexpr std::size_t kConcurrency = 2;  // of each proxy
constexpr std::chrono::milliseconds kLease{3000};

// How many leases are not over.
std::string valid_leases(const std::string& url) {
  return Postgres::ask(url,
                       "SELECT count(*) FROM spillway.proxy WHERE lease_end > spillway.now_ms()");
}

}  // namespace

TEST_CASE("when the database's clock is set forward proxies keep what they have in hand") {
  Postgres postgres;
  const std::string url = postgres.create_database();
  const json settings = fleet_settings(url, kLease, 2 * kConcurrency);
  Member first("first", 0, settings), second("second", 0, settings);
  REQUIRE(comes_to_share(url, "2 2"));
  std::vector<std::string> promised;
  for (std::size_t n = 0; n < kConcurrency; ++n) {
    for (const Member* const member : {&first, &second}) promised.push_back(member->order());
  }
  REQUIRE(first.backend.comes_to_hold(kConcurrency));
  REQUIRE(second.backend.comes_to_hold(kConcurrency));

  Postgres::ask(url,
                "CREATE OR REPLACE FUNCTION spillway.now_ms() RETURNS bigint LANGUAGE sql VOLATILE "
                "AS 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + 600000'");
  CHECK_MESSAGE(valid_leases(url) == "0", "the control");
  for (const Deadline deadline; valid_leases(url) != "2";) REQUIRE_FALSE(deadline.passed());
  first.backend.answer_all();
  second.backend.answer_all();
  for (const std::string& location : promised) {
    for (const Deadline deadline; first.state_of(location) != "succeeded";)
      REQUIRE_FALSE(deadline.passed());
  }
  for (const Member* const member : {&first, &second}) {
    CHECK(member->metric("spillway_jobs_lease_lost_total") == 0);
    CHECK(member->metric("spillway_jobs_recovered_total") == 0);
    CHECK(member->backend.came().size() == kConcurrency);
  }
}
