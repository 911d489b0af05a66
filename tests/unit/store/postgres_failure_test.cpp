// PostgreSQL stops, restarts, crashes or does not answer; a proxy is killed.
#include <doctest/doctest.h>
#include <libpq-fe.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <exception>
#include <set>
#include <thread>

#include "store/postgres/postgres_connection.hpp"
#include "support/event.hpp"
#include "support/rounds.hpp"
#include "support/sockets.hpp"
#include "unit/store/postgres_contract.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {
namespace {

using support::Postgres;

std::optional<Failure> try_enqueue(JobStore& store, const jobs::NewJob& job) {
  Enqueue enqueue;
  enqueue.job = job;
  enqueue.max_pending = 1'000'000;
  Command command = enqueue;
  Command* const batch[] = {&command};
  return store.execute(batch, job.accepted);
}

TEST_CASE("a PostgreSQL that was restarted between two batches is connected to again") {
  PostgresContract contract;
  UnderTest store(contract);
  store.enqueue(store.job(1));
  postgres_server().restart();
  store.enqueue(store.job(2));
  CHECK(store.count(jobs::JobState::queued) == 2);
}

TEST_CASE("while PostgreSQL is down the store is unavailable, and then works again by itself") {
  PostgresContract contract;
  UnderTest store(contract);
  store.enqueue(store.job(1));
  postgres_server().stop();
  for (int n = 0; n < 3; ++n) {
    const auto failure = try_enqueue(store.store(), store.job(2));
    REQUIRE(failure);
    CHECK(failure->kind == Failure::Kind::unavailable);
    CHECK(failure->text.starts_with("PostgreSQL: "));
  }
  CHECK(open_store(contract.url(), {}).failure.kind == Failure::Kind::unavailable);
  postgres_server().start();
  store.enqueue(store.job(3));
  CHECK(store.state(1) == "queued");
  CHECK(store.state(2) == "");
  CHECK(store.state(3) == "queued");
}

TEST_CASE("what was acknowledged survives crashes of PostgreSQL amid batches") {
  PostgresContract contract;
  UnderTest store(contract);
  std::atomic<std::uint64_t> tried{0};
  std::atomic<bool> is_over{false};
  std::set<std::uint64_t> acknowledged;
  std::uint64_t failures = 0;
  std::thread writer([&] {
    while (!is_over) {
      const std::uint64_t n = tried + 1;
      if (try_enqueue(store.store(), store.job(n))) {
        ++failures;
      } else {
        acknowledged.insert(n);
      }
      tried = n;
    }
  });
  std::string problem;
  try {
    for (int n = 0; n < 5; ++n) {
      const std::uint64_t before = tried;
      while (tried < before + 20) std::this_thread::yield();
      postgres_server().crash();
      postgres_server().start();
    }
  } catch (const std::exception& error) {
    problem = error.what();
  }
  is_over = true;
  writer.join();
  REQUIRE(problem == "");
  CHECK(failures > 0);
  CHECK(acknowledged.size() > 50);
  std::uint64_t lost = 0;
  for (const std::uint64_t n : acknowledged) lost += store.state(n) != "queued";
  CHECK(lost == 0);
}

TEST_CASE("a PostgreSQL that stands still is given up after ten seconds") {
  PostgresContract contract;
  UnderTest store(contract);
  store.enqueue(store.job(1));
  postgres_server().freeze();
  const auto began = std::chrono::steady_clock::now();
  const auto failure = try_enqueue(store.store(), store.job(2));
  const auto took = std::chrono::steady_clock::now() - began;
  postgres_server().thaw();
  REQUIRE(failure);
  CHECK(failure->kind == Failure::Kind::unavailable);
  CHECK(took < 15s);
  store.enqueue(store.job(3));
  CHECK(store.state(3) == "queued");
}

// Of a statement with a deadline of its own.
bool answers(const std::string& url, const std::string& query) {
  PGconn* const session = PQconnectdb(url.c_str());
  PQsendQuery(session, query.c_str());
  const support::Deadline deadline(support::kPatience);
  bool has_answered = false;
  while (!has_answered && support::wait_ready(PQsocket(session), POLLIN, deadline)) {
    if (PQconsumeInput(session) != 1) break;
    has_answered = PQisBusy(session) == 0;
  }
  PQfinish(session);
  return has_answered;
}

// One that does keeps its locks whatever its timeouts, and a proxy that was killed its lease.
TEST_CASE("a PostgreSQL of the tests does not stand still for what it logs") {
  Postgres server;
  CHECK(answers(server.url("postgres"), "SELECT 1"));
  const std::string log = "DO $$ BEGIN RAISE LOG '%', repeat('x', 200000); END $$";
  CHECK(answers(server.url("postgres"), log));
  CHECK(answers(server.url("postgres"), "SELECT 1"));
}

// Their rows are locked by another session.
class HeldProxies {
 public:
  explicit HeldProxies(const std::string& url) : session_(PQconnectdb(url.c_str())) {
    PQclear(PQexec(session_, "BEGIN; SELECT FROM spillway.proxy FOR UPDATE"));
  }
  ~HeldProxies() { PQfinish(session_); }
  HeldProxies(const HeldProxies&) = delete;
  HeldProxies& operator=(const HeldProxies&) = delete;

 private:
  PGconn* session_;
};

// Whether as many sessions come to wait for a lock in time.
bool come_to_wait(const std::string& url, const std::string& count, support::Milliseconds within) {
  const support::Deadline deadline(within);
  while (Postgres::ask(url,
                       "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
                       "AND datname = current_database()") != count) {
    if (deadline.passed()) return false;
  }
  return true;
}

TEST_CASE("what a killed proxy waits for is given up before its lock_timeout of five seconds") {
  PostgresContract contract;
  UnderTest store(contract);
  const Epoch epoch = store.join();
  const HeldProxies held(contract.url());
  const pid_t child = ::fork();
  if (child == 0) {
    PostgresConnection connection(contract.url());
    PostgresParameters parameters;
    parameters.add(epoch);
    const PostgresStep steps[] = {{PostgresStatement::leave, std::move(parameters), {}}};
    if (!connection.ensure()) connection.run(steps);
    _exit(0);
  }
  const bool waits = come_to_wait(contract.url(), "1", support::kPatience);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(waits);
  CHECK(WIFSIGNALED(status));
  CHECK(come_to_wait(contract.url(), "0", 3s));
}

std::string what_is_waited_for(const std::string& url) {
  return Postgres::ask(url,
                       "SELECT max(wait_event) FROM pg_stat_activity "
                       "WHERE query LIKE 'SELECT repeat%'");
}

// It keeps its share of its proxy's row, and no statement_timeout ends it.
TEST_CASE(
    "a proxy that takes nothing of what it has claimed is given up, over TCP, after a while") {
  const int free = support::bind_to_loopback(0);
  const std::string port = std::to_string(support::port_of(free));
  ::close(free);
  Postgres server({"listen_addresses=127.0.0.1", "port=" + port});
  const std::string url = server.url("postgres") + "&port=" + port;
  PGconn* const reader =
      PQconnectdb(("postgresql://spillway@127.0.0.1:" + port + "/postgres").c_str());
  PQclear(PQexec(reader, std::string(postgres_session_settings()).c_str()));
  PQclear(PQexec(reader, "SELECT pg_advisory_lock(1)"));
  REQUIRE(PQsendQuery(reader, "SELECT repeat('x', 60000000)") == 1);
  const support::Deadline soon;
  while (what_is_waited_for(url) != "ClientWrite" && !soon.passed()) {
    std::this_thread::yield();
  }
  CHECK_MESSAGE(what_is_waited_for(url) == "ClientWrite", "the control");
  // What it held is free then.
  CHECK_NOTHROW(Postgres::ask(url, "SET lock_timeout = '25s'; SELECT pg_advisory_lock(1)"));
  PQfinish(reader);
}

TEST_CASE(
    "a statement that PostgreSQL ends for its timeout is a failure of the store, for a while") {
  PostgresContract contract;
  UnderTest store(contract);
  const Epoch epoch = store.join();
  store.enqueue(store.job(1));
  {
    const HeldProxies held(contract.url());
    Command claim = Claim{epoch, store.job(1).lane, 1};
    Command* const batch[] = {&claim};
    const auto failure = store.store().execute(batch, store.now());
    REQUIRE(failure);
    CHECK(failure->kind == Failure::Kind::unavailable);
    CHECK(failure->text.find("timeout") != std::string::npos);
  }
  CHECK(store.state(1) == "queued");
  CHECK(store.claim(epoch, 1).size() == 1);
}

// One life of a proxy: enqueues, claims and settles, and says on the pipe what was acknowledged.
struct Said {
  enum class What : std::uint32_t { enqueued, succeeded } what;
  std::uint32_t n;
};

std::uint32_t number_of(const jobs::JobId& id) {
  std::uint32_t n = 0;
  for (std::size_t at = 12; at < 16; ++at) n = n << 8 | id.bytes[at];
  return n;
}

[[noreturn]] void live(PostgresContract& contract, const jobs::NewJob& model, std::uint32_t first,
                       int out) {
  const auto store = open_store(contract.url(), {}).store;
  Command join = Join{"proxy", 10min};
  Command* const joining[] = {&join};
  if (!store || store->execute(joining, model.accepted)) _exit(1);
  const Epoch epoch = std::get<Join>(join).epoch;
  std::vector<Command> settles;
  for (std::uint32_t n = first;; n += 2) {
    std::vector<Command> batch = std::move(settles);
    settles.clear();
    for (std::uint32_t i = n; i < n + 2; ++i) {
      Enqueue enqueue;
      enqueue.job = model;
      enqueue.job.id = job_id(i);
      if (i % 5 == 0) enqueue.job.order = jobs::Digest{1};
      enqueue.max_pending = 1'000'000;
      batch.push_back(enqueue);
    }
    batch.push_back(Claim{epoch, model.lane, 3});
    std::vector<Command*> commands;
    for (Command& command : batch) commands.push_back(&command);
    if (store->execute(commands, model.accepted)) _exit(1);
    for (const Command& command : batch) {
      if (const auto* settle = std::get_if<Settle>(&command); settle && !settle->is_lost) {
        const Said said{Said::What::succeeded, number_of(settle->id)};
        if (::write(out, &said, sizeof(said)) != sizeof(said)) _exit(1);
      } else if (const auto* enqueue = std::get_if<Enqueue>(&command)) {
        const Said said{Said::What::enqueued, number_of(enqueue->id)};
        if (::write(out, &said, sizeof(said)) != sizeof(said)) _exit(1);
      }
    }
    for (const auto& job : std::get<Claim>(batch.back()).jobs) {
      Settle settle;
      settle.epoch = epoch;
      settle.id = job.id;
      settle.progress = {jobs::JobState::succeeded, model.accepted, 1, 0,
                         jobs::Cause::answered,     model.accepted};
      settles.push_back(settle);
    }
  }
}

TEST_CASE("of proxies that were killed no job is lost, and none that had ended begins anew") {
  PostgresContract contract;
  UnderTest store(contract);
  std::set<std::uint32_t> enqueued, succeeded;
  std::uint64_t twice = 0;
  const jobs::NewJob model = store.job(0);
  const auto rounds = static_cast<std::uint32_t>(support::rounds_of(200));
  for (std::uint32_t round = 0; round < rounds; ++round) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    if (child == 0) live(contract, model, round * 1000, ends[1]);
    ::close(ends[1]);
    Said said{};
    for (std::uint32_t n = 0; ::read(ends[0], &said, sizeof(said)) == sizeof(said); ++n) {
      if (said.what == Said::What::enqueued) enqueued.insert(said.n);
      if (said.what == Said::What::succeeded) twice += !succeeded.insert(said.n).second;
      if (n == round % 17) ::kill(child, SIGKILL);
    }
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
  }
  CHECK(enqueued.size() > 2 * rounds);
  CHECK(twice == 0);
  store.pass(10min);
  Sweep sweep;
  sweep.limit = 50;
  sweep.most_recoveries = 1000;
  std::size_t recovered = 0;
  for (;;) {
    const Sweep swept = store.ask(sweep);
    recovered += swept.recovered.size();
    CHECK(swept.poisoned.empty());
    if (!swept.has_more) break;
  }
  CHECK(recovered > 0);
  CHECK(store.count(jobs::JobState::leased) == 0);
  std::uint64_t lost = 0;
  for (const std::uint32_t n : enqueued) lost += store.state(n).empty();
  for (const std::uint32_t n : succeeded) lost += store.state(n) != "succeeded";
  CHECK(lost == 0);
  // The rest is done, one order after another.
  const Epoch epoch = store.join();
  std::vector<jobs::JobId> claimed;
  while (!(claimed = store.claim(epoch, 100)).empty()) {
    for (const jobs::JobId& id : claimed) CHECK(store.succeed(epoch, number_of(id)));
  }
  CHECK(store.count(jobs::JobState::queued) + store.count(jobs::JobState::retrying) == 0);
}

}  // namespace
}  // namespace spillway::store
