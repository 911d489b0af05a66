// History in partitions by period: dropped whole, and jobs of before that are kept.
#include <doctest/doctest.h>
#include <libpq-fe.h>

#include <memory>

#include "store/postgres/postgres_schema.hpp"
#include "unit/store/postgres_contract.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {
namespace {

using support::Postgres;

// A proxy looks after the periods with its first sweep, and then every 10 s of real time.
Sweep sweep_and_turn(UnderTest& store) {
  REQUIRE(store.reopen());
  return store.sweep();
}

std::string periods(const PostgresContract& contract) {
  return Postgres::ask_all(contract.url(), "SELECT number FROM spillway.period ORDER BY 1");
}

std::string tables_of_history(const PostgresContract& contract) {
  return Postgres::ask_all(contract.url(),
                           "SELECT tablename FROM pg_tables WHERE schemaname = 'spillway' AND "
                           "tablename ~ '^(content|answer|attempt)_' ORDER BY 1");
}

constexpr auto kSucceeded = jobs::JobState::succeeded;

void answer(UnderTest& store, Epoch epoch, std::uint64_t n, jobs::JobState end = kSucceeded) {
  Settle settle{epoch, job_id(n), {end, store.now(), 1, 0, jobs::Cause::answered, store.now()}};
  settle.attempt = jobs::Attempt{1, store.now(), store.now(), jobs::Cause::answered, 200, ""};
  settle.answer = jobs::StoredAnswer{200, "a: b\r\n", "done " + std::to_string(n), false};
  CHECK_FALSE(store.ask(settle).is_lost);
}

// All that is stored of a job that has ended is still there.
void check_history(UnderTest& store, std::uint64_t n) {
  const Inspect inspect = store.ask(Inspect{job_id(n), 100});
  REQUIRE(inspect.job);
  CHECK(inspect.job->body_bytes == ("order " + std::to_string(n)).size());
  CHECK(inspect.head == store.job(n).head);
  CHECK(inspect.body == "order " + std::to_string(n));
  CHECK(inspect.attempts.size() == 1);
  const ReadAnswer read = store.ask(ReadAnswer{job_id(n)});
  REQUIRE(read.answer);
  CHECK(read.answer->body == "done " + std::to_string(n));
}

TEST_CASE("the history of a period is dropped with its last job, and a later one's is not") {
  PostgresContract contract;
  UnderTest store(contract);
  const Epoch epoch = store.join(24h);
  store.enqueue(store.job(1));
  REQUIRE(store.claim(epoch).size() == 1);
  answer(store, epoch, 1);
  // It began by the real clock.
  Postgres::ask(contract.url(), "UPDATE spillway.period SET began = " +
                                    std::to_string(store.now().time_since_epoch().count()));
  store.pass(59min);
  sweep_and_turn(store);
  CHECK(periods(contract) == "0\n");
  store.pass(1min - 1ms);
  CHECK(sweep_and_turn(store).forgotten == 0);
  CHECK_MESSAGE(periods(contract) == "0\n", "a period lasts an hour");
  store.pass(1ms);
  CHECK(sweep_and_turn(store).forgotten == 1);
  CHECK_MESSAGE(periods(contract) == "0\n1\n", "somebody may still be writing to it");

  jobs::NewJob later = store.job(2);
  store.enqueue(later);
  REQUIRE(store.claim(epoch).size() == 1);
  answer(store, epoch, 2);
  store.pass(1min);
  sweep_and_turn(store);
  CHECK(periods(contract) == "1\n");
  CHECK(tables_of_history(contract) == "answer_1\nattempt_1\ncontent_1\n");
  check_history(store, 2);
  CHECK_FALSE(store.find(1));
}

TEST_CASE("a period of which one job is not forgotten is kept, whatever its age") {
  PostgresContract contract;
  UnderTest store(contract);
  const Epoch epoch = store.join(48h);
  jobs::NewJob kept = store.job(1);
  kept.kept = 30h;
  store.enqueue(kept);
  store.enqueue(store.job(2));
  REQUIRE(store.claim(epoch).size() == 2);
  answer(store, epoch, 1);
  answer(store, epoch, 2);
  for (int hour = 0; hour < 29; ++hour) {
    store.pass(1h);
    sweep_and_turn(store);
  }
  check_history(store, 1);
  CHECK_FALSE(store.find(2));
  // Their number is bounded: the longer what is kept goes back, the longer a period lasts.
  CHECK(std::stoi(Postgres::ask(contract.url(), "SELECT count(*) FROM spillway.period")) <= 20);
  store.pass(2h);
  sweep_and_turn(store);
  sweep_and_turn(store);
  CHECK(Postgres::ask(contract.url(), "SELECT min(number) FROM spillway.period") != "0");
}

// Rows of what outlasts its period.
std::string kept_rows(const PostgresContract& contract) {
  return Postgres::ask(contract.url(),
                       "SELECT (SELECT count(*) FROM spillway.kept_content) || ' ' || "
                       "(SELECT count(*) FROM spillway.kept_answer) || ' ' || "
                       "(SELECT count(*) FROM spillway.kept_attempt)");
}

// Of eight jobs the first is kept for 30 hours and has ended, the others are forgotten.
Epoch outlast(PostgresContract& contract, UnderTest& store, jobs::JobState end) {
  const Epoch epoch = store.join(48h);
  for (std::uint64_t n = 1; n <= 8; ++n) {
    jobs::NewJob job = store.job(n);
    if (n == 1) job.kept = 30h;
    store.enqueue(job);
  }
  REQUIRE(store.claim(epoch).size() == 8);
  for (std::uint64_t n = 1; n <= 8; ++n) answer(store, epoch, n, n == 1 ? end : kSucceeded);
  Postgres::ask(contract.url(), "UPDATE spillway.period SET began = " +
                                    std::to_string(store.now().time_since_epoch().count()));
  store.pass(1h);
  CHECK(sweep_and_turn(store).forgotten == 7);
  CHECK(periods(contract) == "0\n1\n");
  CHECK_MESSAGE(kept_rows(contract) == "0 0 0", "somebody may still be writing to it");
  store.pass(1min);
  sweep_and_turn(store);
  CHECK(kept_rows(contract) == "1 1 1");
  sweep_and_turn(store);
  CHECK(periods(contract) == "1\n");
  CHECK(tables_of_history(contract) == "answer_1\nattempt_1\ncontent_1\n");
  return epoch;
}

TEST_CASE("a job that is kept for long does not keep the history of its period") {
  PostgresContract contract;
  UnderTest store(contract);
  outlast(contract, store, kSucceeded);
  check_history(store, 1);
  store.pass(29h);
  CHECK(sweep_and_turn(store).forgotten == 1);
  CHECK_FALSE(store.find(1));
  CHECK_MESSAGE(kept_rows(contract) == "0 0 0", "it is deleted with its last job");
}

TEST_CASE("a job that has outlasted its period is replayed and purged as others are") {
  PostgresContract contract;
  UnderTest store(contract);
  const Epoch epoch = outlast(contract, store, jobs::JobState::dead);
  const Replay replay{.filter = {.id = job_id(1)}, .limit = 1, .ttl = 1h, .jobs = {}};
  REQUIRE(store.ask(replay).jobs.size() == 1);
  CHECK(kept_rows(contract) == "1 0 1");
  const auto claimed = store.ask(Claim{epoch, store.job(1).lane, 10}).jobs;
  REQUIRE(claimed.size() == 1);
  CHECK(claimed[0].body == "order 1");
  answer(store, epoch, 1, kSucceeded);
  CHECK(kept_rows(contract) == "1 1 2");
  sweep_and_turn(store);
  CHECK(store.ask(ReadAnswer{job_id(1)}).answer);
  CHECK(store.ask(Purge{.limit = 10}).count == 1);
  CHECK(kept_rows(contract) == "0 0 0");
}

TEST_CASE("what may still change stays in its period") {
  PostgresContract contract;
  UnderTest store(contract);
  const Epoch epoch = store.join(48h);
  for (std::uint64_t n = 1; n <= 16; ++n) {
    jobs::NewJob job = store.job(n);
    job.expires += 48h;
    if (n <= 2) job.kept = 30h;
    store.enqueue(job);
  }
  REQUIRE(store.claim(epoch, 16).size() == 16);
  for (std::uint64_t n = 2; n <= 16; ++n) answer(store, epoch, n);
  Postgres::ask(contract.url(), "UPDATE spillway.period SET began = " +
                                    std::to_string(store.now().time_since_epoch().count()));
  store.pass(1h);
  sweep_and_turn(store);
  store.pass(1min);
  sweep_and_turn(store);
  CHECK_MESSAGE(kept_rows(contract) == "0 0 0", "one is leased");
  REQUIRE(store.retry(epoch, 1, 1s));
  sweep_and_turn(store);
  CHECK_MESSAGE(kept_rows(contract) == "0 0 0", "one waits");
  store.pass(1s);
  REQUIRE(store.claim(epoch).size() == 1);
  answer(store, epoch, 1);
  sweep_and_turn(store);
  CHECK(kept_rows(contract) == "2 2 2");
  check_history(store, 1);
  check_history(store, 2);
}

TEST_CASE("a key that is still known keeps no history") {
  PostgresContract contract;
  UnderTest store(contract);
  const Epoch epoch = store.join(24h);
  jobs::NewJob keyed = store.job(1);
  keyed.idempotency = {{1}, {1}};
  store.enqueue(keyed);
  REQUIRE(store.claim(epoch).size() == 1);
  answer(store, epoch, 1);
  store.pass(1h);
  sweep_and_turn(store);
  store.pass(1min);
  sweep_and_turn(store);
  CHECK(periods(contract) == "1\n");
  keyed.id = job_id(3);
  CHECK(store.enqueue(keyed).result == Enqueue::Result::duplicate);
}

TEST_CASE("of a job that is forgotten or purged before its key nothing is left that was sent") {
  PostgresContract contract;
  UnderTest store(contract);
  const Epoch epoch = store.join(24h);
  for (const std::uint64_t n : {1, 2, 3}) {
    jobs::NewJob job = store.job(n);
    job.idempotency = jobs::IdempotencyKey{{static_cast<std::uint8_t>(n)}, {1}};
    if (n == 3) job.kept = 24h;
    store.enqueue(job);
  }
  REQUIRE(store.claim(epoch).size() == 3);
  for (const std::uint64_t n : {1, 2, 3}) CHECK(store.succeed(epoch, n));
  const auto left = [&] {
    return Postgres::ask_all(
        contract.url(),
        "SELECT convert_from(method || target || tenant_name, 'UTF8') FROM spillway.job "
        "ORDER BY number");
  };
  CHECK(left() == "POST/ordersacme\nPOST/ordersacme\nPOST/ordersacme\n");
  CHECK(store.ask(Purge{.filter = {.id = job_id(2)}, .limit = 1}).count == 1);
  store.pass(1h);
  CHECK(store.sweep().forgotten == 1);
  CHECK(left() == "\n\nPOST/ordersacme\n");
  CHECK(store.find(3)->target == "/orders");
  for (const std::uint8_t n : {1, 2, 3}) CHECK(store.ask(KnowsKey{.scope = {n}}).is_known);
}

TEST_CASE("while somebody reads it history is not dropped, nobody waits, and later it is") {
  PostgresContract contract;
  UnderTest store(contract);
  store.pass(1h);
  sweep_and_turn(store);
  store.pass(1min);
  const std::unique_ptr<PGconn, decltype(&PQfinish)> reader(PQconnectdb(contract.url().c_str()),
                                                            PQfinish);
  PQclear(PQexec(reader.get(), "BEGIN; SELECT count(*) FROM spillway.content_0"));
  sweep_and_turn(store);
  store.enqueue(store.job(1));
  CHECK(store.state(1) == "queued");
  CHECK(periods(contract) == "0\n1\n");
  PQclear(PQexec(reader.get(), "COMMIT"));
  sweep_and_turn(store);
  CHECK(periods(contract) == "1\n");
  CHECK(store.state(1) == "queued");
}

// What a store of the first version has written, by its own columns.
constexpr const char* kOfVersionOne = R"sql(
INSERT INTO proxy (name, lease_end) VALUES ('old', 1);
INSERT INTO job (id, tenant, accepted, expires, kept, rank, route, scope, fingerprint, tenant_name,
                 method, target, head, body) VALUES
  ('00000000-0000-0000-0000-000000000001', 1, 1, 1900000000000, 3600000, 3, 'orders', NULL, NULL,
   'acme', 'POST', '/orders', 'head', 'order 1'),
  ('00000000-0000-0000-0000-000000000002', 1, 1, 1900000000000, 3600000, 3, 'orders', NULL, NULL,
   'acme', 'POST', '/orders', convert_to(E'POST /orders HTTP/1.1\r\nhost: a\r\n\r\n', 'UTF8'),
   'order 2'),
  ('00000000-0000-0000-0000-000000000003', 1, 1, 1900000000000, 3600000, 3, 'orders',
   '01000000-0000-0000-0000-000000000000', '01000000-0000-0000-0000-000000000000',
   'acme', 'POST', '/orders', '', '');
INSERT INTO waiting (number, id, rank, route, tenant, due, expires, kept, state, attempts,
                     recoveries, cause, is_blocked)
  SELECT number, id, rank, route, tenant, 1, expires, kept, 0, 0, 0, 0, false FROM job WHERE number = 1;
INSERT INTO ended (number, due, expires, ended, forget, attempts, recoveries, state, cause, status, route)
  VALUES (2, 1, 1900000000000, 1800000000000, 1800003600000, 1, 0, 3, 1, 200, 'orders');
INSERT INTO answer VALUES (2, convert_to(E'a: b\r\n', 'UTF8'), 'done 2');
INSERT INTO attempt (number, counted, began, ended, cause, status, detail) VALUES (2, 1, 1, 1, 1, 200, '');
INSERT INTO remnant VALUES (3, 1900000000000);
)sql";

TEST_CASE("jobs of a store of the first version are as they were") {
  class Old final : public Contract {
   public:
    std::unique_ptr<JobStore> make() override {
      auto store = contract.make();
      store.reset();
      Postgres::ask(
          contract.url(),
          "SET client_min_messages = error; DROP SCHEMA spillway CASCADE; CREATE SCHEMA spillway; "
          "SET search_path TO spillway; CREATE TABLE version (number integer NOT NULL); "
          "INSERT INTO version VALUES (1); " +
              std::string(postgres_migrations()[0]) + kOfVersionOne);
      return contract.reopen();
    }
    std::unique_ptr<JobStore> reopen() override { return contract.reopen(); }
    bool is_shared() const override { return true; }

    PostgresContract contract;
  };
  Old old;
  UnderTest store(old);
  CHECK(Postgres::ask(old.contract.url(), "SELECT number FROM spillway.version") ==
        std::to_string(postgres_migrations().size()));
  check_history(store, 2);
  CHECK(store.state(1) == "queued");
  CHECK(store.state(3) == "");
  jobs::NewJob keyed = store.job(4);
  keyed.idempotency = {{1}, {1}};
  CHECK(store.enqueue(keyed).result == Enqueue::Result::duplicate);
  const Epoch epoch = store.join();
  store.enqueue(store.job(5));
  const auto claimed = store.ask(Claim{epoch, store.job(1).lane, 10}).jobs;
  REQUIRE(claimed.size() == 2);
  CHECK(claimed[0].id == job_id(1));
  CHECK(claimed[0].head == "head");
  CHECK(claimed[0].body == "order 1");
  answer(store, epoch, 1);
  answer(store, epoch, 5);
  check_history(store, 5);
}

}  // namespace
}  // namespace spillway::store
