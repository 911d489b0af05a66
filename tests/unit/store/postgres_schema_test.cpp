// The schema of the PostgreSQL store, and how its statements are planned.
#include <doctest/doctest.h>

#include <regex>
#include <thread>

#include "store/postgres/postgres_connection.hpp"
#include "store/postgres/postgres_schema.hpp"
#include "store/postgres/postgres_statements.hpp"
#include "unit/store/postgres_contract.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {
namespace {

using support::Postgres;

TEST_CASE("two proxies that bring a new database up to date at the same time both can") {
  for (int round = 0; round < 5; ++round) {
    const std::string url = postgres_server().create_database();
    Opened opened[2];
    std::thread other([&] { opened[1] = open_store(url, {}); });
    opened[0] = open_store(url, {});
    other.join();
    for (const Opened& each : opened) CHECK_MESSAGE(each.store, each.failure.text);
    CHECK(Postgres::ask(url, "SELECT count(*) FROM spillway.version") == "1");
    CHECK(Postgres::ask(url, "SELECT number FROM spillway.version") ==
          std::to_string(postgres_migrations().size()));
  }
}

TEST_CASE("a database of a newer version is refused and left as it is") {
  PostgresContract contract;
  const auto store = contract.make();
  Postgres::ask(contract.url(), "UPDATE spillway.version SET number = 99");
  const Opened opened = open_store(contract.url(), {});
  CHECK_FALSE(opened.store);
  CHECK(opened.failure.kind == Failure::Kind::newer_version);
  CHECK(opened.failure.text.find("99") != std::string::npos);
  CHECK(Postgres::ask(contract.url(), "SELECT number FROM spillway.version") == "99");
}

TEST_CASE("tables of that name that are not a store are refused and left as they are") {
  const std::string url = postgres_server().create_database();
  Postgres::ask(url, "CREATE SCHEMA spillway; CREATE TABLE spillway.job (mine int)");
  const Opened opened = open_store(url, {});
  CHECK_FALSE(opened.store);
  CHECK(opened.failure.kind == Failure::Kind::corrupt);
  CHECK(Postgres::ask(url, "SELECT count(*) FROM pg_tables WHERE schemaname = 'spillway'") == "1");
}

TEST_CASE("tables of other schemas are not touched, and a search_path makes a store of its own") {
  const std::string url = postgres_server().create_database();
  Postgres::ask(url, "CREATE TABLE public.job (mine int); INSERT INTO public.job VALUES (1)");
  REQUIRE(open_store(url, {}).store);
  REQUIRE(open_store(url + "&options=-csearch_path%3Dblue", {}).store);
  CHECK(Postgres::ask_all(url,
                          "SELECT schemaname FROM pg_tables WHERE tablename = 'job' ORDER BY 1") ==
        "blue\npublic\nspillway\n");
  CHECK(Postgres::ask(url, "SELECT mine FROM public.job") == "1");
}

TEST_CASE("a database whose jobs were sealed with another key is refused") {
  const std::string url = postgres_server().create_database();
  CHECK(open_store(url, {}).store);
  CHECK_MESSAGE(open_store(url, {}, Key{{1}}).store, "there are no jobs yet");
  Postgres::ask(url,
                "INSERT INTO spillway.job (id, tenant, accepted, expires, kept, rank, route, "
                "tenant_name, method, target, body_bytes, period) "
                "VALUES (gen_random_uuid(), 1, 1, 1, 1, 1, 'a', '', '', '', 0, 0)");
  CHECK(open_store(url, {}, Key{{1}}).store);
  CHECK(open_store(url, {}, Key{{2}}).failure.kind == Failure::Kind::corrupt);
  CHECK(open_store(url, {}).failure.kind == Failure::Kind::corrupt);
}

TEST_CASE("an address that is wrong is told without its password") {
  const Opened opened = open_store("postgresql://a:secret@/jobs?host=%2Fnonexistent", {});
  CHECK_FALSE(opened.store);
  CHECK(opened.failure.kind == Failure::Kind::unavailable);
  CHECK(opened.failure.text.find("secret") == std::string::npos);
}

// A batch says what its session is set to: the store's time is 1 in one whose commits are durable.
TEST_CASE("commits are durable also in a database that is set otherwise") {
  const std::string url = postgres_server().create_database();
  Postgres::ask(url,
                "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', "
                "current_database()); END $$");
  const Opened opened = open_store(url, {});
  REQUIRE(opened.store);
  Postgres::ask(url,
                "CREATE OR REPLACE FUNCTION spillway.now_ms() RETURNS bigint LANGUAGE sql VOLATILE "
                "AS $$ SELECT (CASE current_setting('synchronous_commit') WHEN 'on' THEN 1 "
                "ELSE 2 END)::bigint $$");
  Command join = Join{"proxy", 1h};
  Command* const batch[] = {&join};
  REQUIRE_FALSE(opened.store->execute(batch, {}));
  CHECK(std::get<Join>(join).now == jobs::WallTime(1ms));
  CHECK_MESSAGE(Postgres::ask(url, "SELECT spillway.now_ms()") == "2", "the control");
}

// The generic plan, as the store's sessions have it.
std::string plan_of(const std::string& url, const std::string& text) {
  int parameters = 0;
  for (int n = 1; text.find("$" + std::to_string(n)) != std::string::npos; ++n) parameters = n;
  std::string values = "NULL";
  for (int n = 1; n < parameters; ++n) values += ", NULL";
  return Postgres::ask_all(url, std::string(postgres_session_settings()) +
                                    "; SET search_path TO spillway; PREPARE asked AS " + text +
                                    "; EXPLAIN (COSTS OFF) EXECUTE asked" +
                                    (parameters > 0 ? "(" + values + ")" : ""));
}

std::string plan_of(const std::string& url, PostgresStatement statement) {
  for (const PostgresStatementText& each : postgres_statements()) {
    if (each.statement == statement) return plan_of(url, each.text);
  }
  return {};
}

bool reads_a_table_through(const std::string& plan) {
  const std::regex scan(
      "Seq Scan on (job|waiting|leased|ended|remnant|content|answer|attempt|line|key_in_hand)");
  return std::regex_search(plan, scan);
}

// The totals read tables through, on a connection of their own (postgres_totals.hpp), and a proxy
// that registers reads the keys in hand.
TEST_CASE("no statement but the totals reads a table of jobs from end to end") {
  PostgresContract contract;
  const auto store = contract.make();
  for (const PostgresStatementText& each : postgres_statements()) {
    using enum PostgresStatement;
    if (each.statement == begin || each.statement == commit || each.statement == rollback ||
        each.statement == totals || each.statement == sizes || each.statement == clear_keys) {
      continue;
    }
    const std::string plan = plan_of(contract.url(), each.text);
    CHECK_MESSAGE(!plan.empty(), each.text);
    CHECK_MESSAGE(!reads_a_table_through(plan), plan);
  }
}

TEST_CASE(
    "a claim walks its index from the watermark in the order of due times, and sorts nothing") {
  PostgresContract contract;
  const auto store = contract.make();
  for (const auto statement : {PostgresStatement::claim, PostgresStatement::claim_and_tell}) {
    const std::string plan = plan_of(contract.url(), statement);
    const std::string picked = plan.substr(plan.find("CTE picked"));
    int scans = 0;
    for (std::size_t at = 0;; ++scans) {
      at = picked.find("Index Scan using waiting_claim on waiting", at + 1);
      if (at == std::string::npos) break;
      const std::string condition = picked.substr(picked.find("Index Cond", at));
      const std::string line = condition.substr(0, condition.find('\n'));
      CHECK_MESSAGE(line.find("due >=") != std::string::npos, plan);
      CHECK_MESSAGE(line.find("due <=") != std::string::npos, plan);
    }
    CHECK_MESSAGE(scans == (statement == PostgresStatement::claim ? 1 : 2), plan);
    CHECK_MESSAGE(picked.substr(0, picked.find("CTE taken")).find("Sort") == std::string::npos,
                  plan);
  }
  CHECK(plan_of(contract.url(), PostgresStatement::lanes).find("waiting_claim") !=
        std::string::npos);
  CHECK(plan_of(contract.url(), PostgresStatement::pick_expired).find("waiting_expires") !=
        std::string::npos);
  CHECK(plan_of(contract.url(), PostgresStatement::pick_orphans).find("leased_epoch") !=
        std::string::npos);
  CHECK(plan_of(contract.url(), PostgresStatement::look_up_line).find("line_pkey") !=
        std::string::npos);
  CHECK(plan_of(contract.url(), PostgresStatement::forget).find("ended_forget") !=
        std::string::npos);
  // Without its index the same check fails.
  Postgres::ask(contract.url(), "DROP INDEX spillway.waiting_claim");
  const std::string without = plan_of(contract.url(), PostgresStatement::claim);
  CHECK(without.find("waiting_claim") == std::string::npos);
  CHECK_MESSAGE(without.find("Sort") != std::string::npos, without);
}

TEST_CASE("each statement of the PostgreSQL store is written once") {
  const auto all = postgres_statements();
  REQUIRE(all.size() == index(PostgresStatement::room_forget) + 1);  // the last one
  std::vector<int> times(all.size());
  for (const PostgresStatementText& each : all) ++times.at(index(each.statement));
  for (std::size_t n = 0; n < times.size(); ++n) {
    INFO("statement " << n);
    CHECK(times[n] == 1);
  }
}

}  // namespace
}  // namespace spillway::store
