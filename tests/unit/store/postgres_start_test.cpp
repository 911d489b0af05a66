// A start with many jobs pending: the rows that PostgreSQL reads for it are counted, not the time.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "support/event.hpp"
#include "unit/store/postgres_contract.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {
namespace {

using support::Postgres;

constexpr std::uint64_t kPending = 50'000;
constexpr std::uint64_t kTenants = 16;

void fill_database(PostgresContract& contract) {
  const std::string jobs = std::to_string(kPending);
  const std::string now = std::to_string(contract.now().time_since_epoch().count());
  Postgres::ask(contract.url(),
                "SET search_path TO spillway; "
                "INSERT INTO job (number, id, tenant, accepted, expires, kept, rank, route, "
                "tenant_name, method, target, body_bytes, period) SELECT nextval('numbers'), "
                "gen_random_uuid(), n % " +
                    std::to_string(kTenants) + ", " + now + ", " + now +
                    " + 3600000, 3600000, 3, 'orders', 'acme', 'POST', '/orders', 1, 0 "
                    "FROM generate_series(1, " +
                    jobs + ") AS n");
  Postgres::ask(contract.url(),
                "SET search_path TO spillway; INSERT INTO content (period, number, head, body) "
                "SELECT 0, number, 'head', 'x' FROM job");
  Postgres::ask(contract.url(),
                "SET search_path TO spillway; "
                "INSERT INTO waiting (number, id, rank, route, tenant, due, expires, kept, state, "
                "attempts, recoveries, cause, is_blocked, period) SELECT number, id, rank, route, "
                "tenant, accepted, expires, kept, 0, 0, 0, 0, false, 0 FROM job");
}

// Of tables of jobs, by sessions that have ended: a session tells of all as it ends.
std::uint64_t rows_read(const std::string& url) {
  const std::string others =
      "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "
      "backend_type = 'client backend' AND pid <> pg_backend_pid()";
  for (const support::Deadline deadline; Postgres::ask(url, others) != "0";)
    REQUIRE_FALSE(deadline.passed());
  return std::stoull(Postgres::ask(
      url,
      "SELECT sum(t.seq_tup_read + coalesce(t.idx_tup_fetch, 0) + coalesce(i.entries, 0))::int8 "
      "FROM pg_stat_user_tables t LEFT JOIN (SELECT relid, sum(idx_tup_read) AS entries "
      "FROM pg_stat_user_indexes GROUP BY relid) AS i ON i.relid = t.relid "
      "WHERE t.schemaname = 'spillway'"));
}

// As a proxy's, until its first jobs are in its hands and its first request is written down.
void start_proxy(PostgresContract& contract) {
  const std::unique_ptr<JobStore> opened = contract.reopen();
  const auto ask = [&](auto verb) {
    Command command = std::move(verb);
    Command* const batch[] = {&command};
    REQUIRE_FALSE(opened->execute(batch, contract.now()));
    return std::get<decltype(verb)>(std::move(command));
  };
  const Epoch epoch = ask(Join{"proxy", 1h}).epoch;
  ask(Sweep{.limit = 1000, .silence = 10s});
  const Lanes lanes = ask(Lanes{.limit = 1024});
  REQUIRE(lanes.found.size() == kTenants);
  CHECK(ask(Claim{epoch, lanes.found.back().lane, 16}).jobs.size() == 16);
  Enqueue enqueue{.max_pending = 100'000'000, .is_in_share = true};
  enqueue.job.id = job_id(1);
  enqueue.job.lane = lanes.found.front().lane;
  enqueue.job.accepted = contract.now();
  enqueue.job.expires = contract.now() + 1h;
  CHECK(ask(enqueue).result == Enqueue::Result::accepted);
  ask(KnowsKey{.scope = {1}});
  ask(Renew{.epoch = epoch, .lease = 1h});
}

}  // namespace

// Those of the route are counted, once, by their index.
TEST_CASE("a start with many jobs pending reads them once") {
  PostgresContract contract;
  contract.make();
  fill_database(contract);
  const std::uint64_t before = rows_read(contract.url());
  start_proxy(contract);
  const std::uint64_t read = rows_read(contract.url()) - before;
  CAPTURE(read);
  CHECK(read > kPending / 2);  // it is seen
  CHECK(read < kPending * 5 / 2);
}

}  // namespace spillway::store
