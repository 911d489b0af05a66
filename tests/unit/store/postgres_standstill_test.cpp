// A proxy stands still amid a transaction: what it holds then, and for how long.
#include <doctest/doctest.h>
#include <libpq-fe.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "store/postgres/postgres_connection.hpp"
#include "support/event.hpp"
#include "unit/store/postgres_contract.hpp"
#include "unit/store/under_test.hpp"

namespace spillway::store {
namespace {

// A process that is stopped (SIGSTOP) once the steps are done, on a connection as the store's.
class StoppedProxy {
 public:
  StoppedProxy(const std::string& url, std::vector<PostgresStep> steps) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    child_ = ::fork();
    if (child_ == 0) {
      PostgresConnection connection(url);
      if (connection.ensure() || connection.run(steps)) _exit(1);
      if (::write(ends[1], "x", 1) != 1) _exit(1);
      for (;;) ::pause();
    }
    ::close(ends[1]);
    char done = 0;
    const bool is_done = ::read(ends[0], &done, 1) == 1;
    ::close(ends[0]);
    ::kill(child_, SIGSTOP);
    REQUIRE(is_done);
  }
  ~StoppedProxy() {
    ::kill(child_, SIGKILL);
    int status = 0;
    ::waitpid(child_, &status, 0);
  }
  StoppedProxy(const StoppedProxy&) = delete;
  StoppedProxy& operator=(const StoppedProxy&) = delete;

 private:
  pid_t child_ = -1;
};

// As a batch that ends leased jobs of an order begins.
std::vector<PostgresStep> to_lock_line_of(const jobs::JobId& id) {
  PostgresColumn leased(PostgresType::uuid);
  leased.add(id.bytes);
  PostgresParameters lines;
  lines.add(PostgresColumn(PostgresType::text)).add(PostgresColumn(PostgresType::uuid));
  lines.add(std::move(leased)).add(PostgresColumn(PostgresType::uuid));
  std::vector<PostgresStep> steps;
  steps.push_back({PostgresStatement::begin, {}, {}});
  steps.push_back({PostgresStatement::lock_lines, std::move(lines), {}});
  return steps;
}

// A session as a proxy's, of which the test reads nothing that it is not told to.
class Session {
 public:
  explicit Session(const std::string& url) : session_(PQconnectdb(url.c_str())) {
    ask(std::string(postgres_session_settings()) + "; SET search_path TO spillway");
  }
  ~Session() { PQfinish(session_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // The first value of the first row; empty: none.
  std::string ask(const std::string& query) {
    PGresult* const result = PQexec(session_, query.c_str());
    const std::string value = PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "";
    PQclear(result);
    return value;
  }
  Epoch join(std::chrono::milliseconds lease) {
    for (const PostgresStatementText& each : postgres_statements())
      if (each.statement == PostgresStatement::join) ask("PREPARE join_it AS " + each.text);
    return std::stoll(ask("EXECUTE join_it('stopped', " + std::to_string(lease.count()) + ", 0)"));
  }
  // Rows that nobody takes, as a claim's: it shares its proxy's row.
  bool begins_to_send(Epoch epoch) {
    const std::string query =
        "SELECT repeat('x', 60000000) FROM proxy WHERE epoch = " + std::to_string(epoch) +
        " FOR SHARE";
    return PQsendQuery(session_, query.c_str()) == 1;
  }
  // The first part of a transaction, of which the rest does not follow.
  void send_part(const std::string& query) {
    REQUIRE(PQenterPipelineMode(session_) == 1);
    for (const std::string& each : {std::string("BEGIN"), query}) {
      REQUIRE(PQsendQueryParams(session_, each.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 1) ==
              1);
    }
    REQUIRE(PQsendFlushRequest(session_) == 1);
    REQUIRE(PQflush(session_) == 0);
  }
  int backend() const { return PQbackendPID(session_); }

 private:
  PGconn* session_;
};

std::string what_waits(const std::string& url, int backend) {
  return support::Postgres::ask(
      url, "SELECT max(wait_event) FROM pg_stat_activity WHERE pid = " + std::to_string(backend));
}

}  // namespace

TEST_CASE("while a proxy stands still amid a transaction others wait, and do not fail") {
  PostgresContract contract;
  UnderTest store(contract);
  const Epoch epoch = store.join();
  for (const std::uint64_t n : {1, 2}) {
    jobs::NewJob job = store.job(n);
    job.order = jobs::Digest{1};
    store.enqueue(job);
  }
  REQUIRE(store.claim(epoch).size() == 1);
  const StoppedProxy stopped(contract.url(), to_lock_line_of(job_id(1)));
  // That its line is locked: the batch of another one waits.
  CHECK(support::Postgres::ask(
            contract.url(),
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())") ==
        "1");
  CHECK(store.succeed(epoch, 1));
  CHECK(store.state(1) == "succeeded");
  CHECK(store.claim(epoch) == std::vector{job_id(2)});
}

// On a Unix socket no timeout of PostgreSQL's or TCP's ends that.
TEST_CASE(
    "a proxy that stands still amid a claim's rows, on a Unix socket, has its jobs recovered") {
  PostgresContract contract;
  UnderTest store(contract);
  Session stopped(contract.url());
  const Epoch epoch = stopped.join(10s);
  store.enqueue(store.job(1));
  REQUIRE(store.claim(epoch).size() == 1);
  REQUIRE(stopped.begins_to_send(epoch));
  const support::Deadline deadline;
  while (what_waits(contract.url(), stopped.backend()) != "ClientWrite") {
    REQUIRE_FALSE(deadline.passed());
    std::this_thread::yield();
  }
  CHECK_MESSAGE(store.sweep().recovered.empty(), "its lease is not over");
  CHECK(what_waits(contract.url(), stopped.backend()) == "ClientWrite");
  store.pass(10s);
  const Sweep first = store.sweep();
  CHECK_MESSAGE(first.recovered.empty(), "the control: its row is locked");
  Sweep sweep;
  while ((sweep = store.sweep()).recovered.empty()) REQUIRE_FALSE(deadline.passed());
  CHECK(sweep.recovered == std::vector{job_id(1)});
  CHECK_FALSE(store.succeed(epoch, 1));
}

// No timeout ends that either: for PostgreSQL the transaction is at work.
TEST_CASE("a proxy that stands still amid what it sends holds nothing once its lease is over") {
  PostgresContract contract;
  UnderTest store(contract);
  Session stopped(contract.url());
  stopped.join(10s);
  stopped.send_part("SELECT pg_advisory_xact_lock(7)");
  const std::string count =
      "SELECT count(*) FROM pg_locks WHERE granted AND pid = " + std::to_string(stopped.backend()) +
      " AND locktype = 'advisory'";
  for (const support::Deadline deadline; support::Postgres::ask(contract.url(), count) != "1";)
    REQUIRE_FALSE(deadline.passed());
  store.pass(10s);
  store.sweep();
  CHECK_NOTHROW(support::Postgres::ask(contract.url(),
                                       "SET lock_timeout = '6s'; SELECT pg_advisory_xact_lock(7)"));
}

TEST_CASE("the session of a proxy that has ended is not that of another with its number") {
  PostgresContract contract;
  UnderTest store(contract);
  Session other(contract.url());
  const Epoch epoch = other.join(10s);
  other.ask("UPDATE proxy SET backend_since = backend_since - interval '1 s'");
  other.ask("BEGIN; SELECT 1");
  store.pass(10s);
  store.sweep();
  CHECK(other.ask("SELECT 2") == "2");
  CHECK(store.ask(Renew{epoch, 10s}).is_lost);
}

}  // namespace spillway::store
