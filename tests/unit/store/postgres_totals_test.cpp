// What is counted in a PostgreSQL store, beside its work.
#include <doctest/doctest.h>
#include <libpq-fe.h>

#include <thread>

#include "unit/store/postgres_contract.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {
namespace {

// Another session's, which stays open.
class Transaction {
 public:
  Transaction(const std::string& url, const char* begin) : connection_(PQconnectdb(url.c_str())) {
    PGresult* const result = PQexec(connection_, begin);
    const ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    REQUIRE((status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK));
  }
  ~Transaction() { PQfinish(connection_); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

 private:
  PGconn* connection_;
};

// What has ended cannot be read, so that it cannot be counted.
constexpr const char* kHoldUp = "BEGIN; LOCK TABLE spillway.ended IN ACCESS EXCLUSIVE MODE";

std::uint64_t queued(const Totals& totals) {
  std::uint64_t sum = 0;
  for (const Totals::Route& route : totals.routes)
    sum += route.by_state[index(jobs::JobState::queued)];
  return sum;
}

// Not as UnderTest asks, which waits for the figures of now.
Totals ask_at_once(UnderTest& store, std::chrono::milliseconds patience, const jobs::NewJob* job) {
  Command totals = Totals{patience}, enqueue = Enqueue{};
  std::vector<Command*> batch{&totals};
  if (job != nullptr) {
    std::get<Enqueue>(enqueue).job = *job;
    std::get<Enqueue>(enqueue).max_pending = 100;
    batch.push_back(&enqueue);
  }
  REQUIRE_FALSE(store.store().execute(batch, store.now()));
  return std::get<Totals>(totals);
}

template <class Condition>
bool becomes(const Condition& condition) {
  const auto until = std::chrono::steady_clock::now() + 30s;
  while (!condition() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  return condition();
}

TEST_CASE("what is written down does not wait until the jobs are counted") {
  PostgresContract contract;
  UnderTest store(contract);
  store.enqueue(store.job(1));
  REQUIRE(queued(store.ask(Totals{})) == 1);
  {
    const Transaction held(contract.url(), kHoldUp);
    const jobs::NewJob job = store.job(2);
    const auto began = std::chrono::steady_clock::now();
    ask_at_once(store, 0ms, &job);
    CHECK(std::chrono::steady_clock::now() - began < 3s);  // a lock is waited for for 5 s
    // The control: the counting is held up.
    CHECK(queued(ask_at_once(store, 200ms, nullptr)) == 1);
  }
  CHECK(store.state(2) == "queued");
  CHECK(becomes([&] { return queued(store.ask(Totals{})) == 2; }));
}

TEST_CASE("without patience the figures are those of the question before") {
  PostgresContract contract;
  UnderTest store(contract);
  const jobs::NewJob job = store.job(1);
  CHECK(queued(ask_at_once(store, 0ms, &job)) == 0);
  CHECK(becomes([&] { return queued(ask_at_once(store, 0ms, nullptr)) == 1; }));
}

TEST_CASE("a store that is closed does not wait for what is being counted") {
  PostgresContract contract;
  auto store = contract.make();
  const Transaction held(contract.url(), kHoldUp);
  Command totals = Totals{200ms};  // so that it has begun
  Command* const batch[] = {&totals};
  REQUIRE_FALSE(store->execute(batch, {}));
  const auto began = std::chrono::steady_clock::now();
  store.reset();
  CHECK(std::chrono::steady_clock::now() - began < 3s);
}

TEST_CASE(
    "rows that a long transaction keeps from being vacuumed are told, and are gone after it") {
  constexpr std::uint64_t kJobs = 50, kRows = 2 * kJobs;  // each waited and was leased
  PostgresContract contract;
  UnderTest store(contract);
  const auto dead_rows = [&] { return store.ask(Totals{}).dead_rows; };
  const auto vacuum = [&] {
    for (const char* table : {"waiting", "leased"})
      support::Postgres::ask(contract.url(), std::string("VACUUM spillway.") + table);
  };
  {
    const Transaction open(contract.url(),
                           "BEGIN ISOLATION LEVEL REPEATABLE READ; "
                           "SELECT count(*) FROM spillway.waiting");
    const Epoch epoch = store.join();
    for (std::uint64_t n = 0; n < kJobs; ++n) store.enqueue(store.job(n));
    REQUIRE(store.claim(epoch, kJobs).size() == kJobs);
    for (std::uint64_t n = 0; n < kJobs; ++n) REQUIRE(store.succeed(epoch, n));
    REQUIRE(store.reopen());  // a session tells what it has done at its end
    CHECK(becomes([&] { return dead_rows() >= kRows; }));
    vacuum();
    CHECK(dead_rows() >= kRows);
  }
  // The control: it was the transaction that has kept them.
  CHECK(becomes([&] {
    vacuum();
    return dead_rows() == 0;
  }));
}

}  // namespace
}  // namespace spillway::store
