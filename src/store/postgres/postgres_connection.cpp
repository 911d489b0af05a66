#include "store/postgres/postgres_connection.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "store/postgres/postgres_migration.hpp"

namespace spillway::store {
namespace {

// Session settings. Every statement is meant to use indices, whatever the current statistics of the
// constantly growing and shrinking tables say, and is planned only once.
//
// A proxy that stops between two steps of a transaction holds locks, for instance of orders. So it
// loses its session before lock_timeout fails the statements of others that wait for them.
//
// None of the first three ends a statement while the server waits for its client to read rows, as
// in a claim, which keeps its proxy from being condemned. TCP's settings do: a client that reads
// nothing for that long has given up itself. They do nothing on a Unix socket.
constexpr const char* kSession =
    "SET statement_timeout = '9s'; SET lock_timeout = '5s'; "
    "SET idle_in_transaction_session_timeout = '3s'; "
    "SET tcp_user_timeout = '10s'; SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; "
    "SET tcp_keepalives_count = 3; "
    "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; "
    "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_bitmapscan = off; "
    "SET jit = off; SET synchronous_commit = on; SET client_min_messages = error; "
    "SET default_transaction_isolation = 'read committed'";

// Lets the server end the statement of a client that has ended. PostgreSQL before 14 does not know
// this setting, and a server on a system that cannot detect such an end refuses it.
constexpr const char* kGoneClient =
    "SELECT set_config('client_connection_check_interval', '1s', false) "
    "WHERE current_setting('client_connection_check_interval', true) IS NOT NULL";

// Defaults for settings that the URL does not give. A lost peer is noticed in 10 s.
constexpr std::array<std::pair<const char*, const char*>, 7> kDefaults{{
    {"connect_timeout", "5"},
    {"keepalives", "1"},
    {"keepalives_idle", "5"},
    {"keepalives_interval", "2"},
    {"keepalives_count", "3"},
    {"tcp_user_timeout", "10000"},
    {"application_name", "spillway"},
}};

// After a failed attempt that took longer than this, the next one waits for this time.
constexpr std::chrono::milliseconds kSlowAttempt{1000};

PostgresFailure failure_of(const PGresult* result) {
  const char* const field = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string_view state = field ? field : "";
  return {postgres_failure(result), state == "40001" || state == "40P01", state == "23505"};
}

bool is_error(const PGresult* result) {
  switch (PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_PIPELINE_SYNC: return false;
    default: return true;
  }
}

}  // namespace

std::string_view postgres_session_settings() { return kSession; }

PostgresConnection::PostgresConnection(std::string url, bool listens,
                                       std::chrono::milliseconds patience)
    : url_(std::move(url)), listens_(listens), patience_(patience) {}

std::optional<Failure> PostgresConnection::ensure() {
  if (connection_ && is_alive()) return std::nullopt;
  connection_.reset();
  const Time began = std::chrono::steady_clock::now();
  if (began < next_attempt_) {
    return Failure{Failure::Kind::unavailable, "PostgreSQL did not answer a moment ago."};
  }
  std::optional<Failure> failure = connect();
  if (failure) {
    connection_.reset();
    const Time now = std::chrono::steady_clock::now();
    if (now - began > kSlowAttempt) next_attempt_ = now + kSlowAttempt;
  }
  return failure;
}

// A server that has shut down has sent a message and closed the connection: both can be read.
bool PostgresConnection::is_alive() {
  pollfd ready{PQsocket(connection_.get()), POLLIN, 0};
  while (PQstatus(connection_.get()) == CONNECTION_OK) {
    if (::poll(&ready, 1, 0) <= 0) return true;
    if (PQconsumeInput(connection_.get()) != 1) return false;
  }
  return false;
}

std::optional<Failure> PostgresConnection::connect() {
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : kDefaults) {
    keys.push_back(key);
    values.push_back(value);
  }
  keys.push_back("dbname");  // a URL here is expanded, and overrides the keys before it
  values.push_back(url_.c_str());
  keys.push_back("client_encoding");
  values.push_back("UTF8");
  keys.push_back(nullptr);
  values.push_back(nullptr);
  connection_.reset(PQconnectdbParams(keys.data(), values.data(), 1));
  if (PQstatus(connection_.get()) != CONNECTION_OK) return broken();
  return set_up();
}

std::optional<Failure> PostgresConnection::set_up() {
  // Otherwise notices would go to standard error.
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr);
  PGresult* const settings = PQexec(connection_.get(), kSession);
  std::optional<Failure> failure;
  if (is_error(settings)) failure = postgres_failure(settings);
  PQclear(settings);
  if (!failure) PQclear(PQexec(connection_.get(), kGoneClient));
  if (!failure) failure = migrate_postgres(connection_.get());
  if (!failure && listens_) failure = listen();
  if (failure) return failure;
  deadline_ = std::chrono::steady_clock::now() + patience_;
  if (PQsetnonblocking(connection_.get(), 1) != 0 || PQenterPipelineMode(connection_.get()) != 1) {
    return broken();
  }
  if (!prepare_all()) return broken();
  const auto statements = postgres_statements();
  std::vector<PostgresStep> steps(statements.size());
  if (const auto refused = receive(steps)) return refused->failure;
  return std::nullopt;
}

// The channel's name is the one in the statement `announce`.
std::optional<Failure> PostgresConnection::listen() {
  std::unique_ptr<PGresult, decltype(&PQclear)> name(
      PQexec(connection_.get(), "SELECT 'LISTEN spillway_' || md5(current_schema())"), PQclear);
  if (is_error(name.get())) return postgres_failure(name.get());
  const std::unique_ptr<PGresult, decltype(&PQclear)> listening(
      PQexec(connection_.get(), PQgetvalue(name.get(), 0, 0)), PQclear);
  if (is_error(listening.get())) return postgres_failure(listening.get());
  return std::nullopt;
}

std::vector<std::string> PostgresConnection::notifications() {
  std::vector<std::string> texts;
  if (!connection_) return texts;
  if (!is_alive()) {
    connection_.reset();
    return texts;
  }
  while (PGnotify* const told = PQnotifies(connection_.get())) {
    if (told->be_pid != PQbackendPID(connection_.get())) texts.emplace_back(told->extra);
    PQfreemem(told);
  }
  return texts;
}

bool PostgresConnection::prepare_all() {
  for (const PostgresStatementText& each : postgres_statements()) {
    if (PQsendPrepare(connection_.get(), prepared_name(each.statement).c_str(), each.text.c_str(),
                      0, nullptr) != 1) {
      return false;
    }
  }
  return PQpipelineSync(connection_.get()) == 1;
}

std::optional<PostgresFailure> PostgresConnection::run(std::span<const PostgresStep> steps) {
  deadline_ = std::chrono::steady_clock::now() + patience_;
  if (!send(steps)) {
    Failure failure = broken();
    connection_.reset();
    return PostgresFailure{std::move(failure)};
  }
  return receive(steps);
}

// First sends a message of five bytes: within a transaction, PostgreSQL limits the time until it
// has the whole next message (idle_in_transaction_session_timeout), and a step with a body may take
// long to arrive.
bool PostgresConnection::send(std::span<const PostgresStep> steps) {
  if (PQsendFlushRequest(connection_.get()) != 1) return false;
  for (const PostgresStep& step : steps) {
    const PostgresParameters::View view = step.parameters.view();
    if (PQsendQueryPrepared(connection_.get(), prepared_name(step.statement).c_str(),
                            static_cast<int>(view.values.size()), view.values.data(),
                            view.lengths.data(), view.formats.data(), 1) != 1) {
      return false;
    }
  }
  return PQpipelineSync(connection_.get()) == 1;
}

// After an error the results of the later steps only say that they were not executed; the sync
// still arrives.
std::optional<PostgresFailure> PostgresConnection::receive(std::span<const PostgresStep> steps) {
  std::optional<PostgresFailure> failure;
  for (const PostgresStep& step : steps) {
    for (PGresult* result = nullptr;;) {
      if (!next_result(result)) {
        failure = PostgresFailure{broken()};
        connection_.reset();
        return failure;
      }
      if (result == nullptr) break;
      if (is_error(result)) {
        if (!failure) failure = failure_of(result);
      } else if (step.read) {
        step.read(PostgresRows(result));
      }
      PQclear(result);
    }
  }
  return receive_sync(std::move(failure));
}

std::optional<PostgresFailure> PostgresConnection::receive_sync(
    std::optional<PostgresFailure> so_far) {
  PGresult* result = nullptr;
  if (!next_result(result) || result == nullptr) {
    PostgresFailure failure = so_far ? *so_far : PostgresFailure{broken()};
    connection_.reset();
    return failure;
  }
  PQclear(result);
  return so_far;
}

bool PostgresConnection::wait(short events, short& ready) const {
  using std::chrono::milliseconds;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<milliseconds>(deadline_ - std::chrono::steady_clock::now());
    if (left.count() <= 0 || is_interrupted_.load()) return false;
    pollfd socket{PQsocket(connection_.get()), events, 0};
    if (::poll(&socket, 1, static_cast<int>(std::min<milliseconds>(left, kGlance).count())) == 0) {
      continue;
    }
    ready = socket.revents;
    return true;
  }
}

bool PostgresConnection::next_result(PGresult*& result) {
  if (!flush()) return false;
  while (PQisBusy(connection_.get()) != 0) {
    short ready = 0;
    if (!wait(POLLIN, ready)) return false;
    if (PQconsumeInput(connection_.get()) != 1) return false;
  }
  result = PQgetResult(connection_.get());
  if (PQstatus(connection_.get()) == CONNECTION_OK) return true;
  PQclear(std::exchange(result, nullptr));
  return false;
}

// The server may need its output to be read before it accepts more.
bool PostgresConnection::flush() {
  for (;;) {
    const int left_to_send = PQflush(connection_.get());
    if (left_to_send <= 0) return left_to_send == 0;
    short ready = 0;
    if (!wait(POLLIN | POLLOUT, ready)) return false;
    if ((ready & POLLIN) != 0 && PQconsumeInput(connection_.get()) != 1) return false;
  }
}

void PostgresConnection::abandon() {
  if (!connection_) return;
  const std::array<PostgresStep, 1> steps{{{PostgresStatement::rollback, {}, {}}}};
  if (run(steps)) connection_.reset();
}

Failure PostgresConnection::broken() {
  std::string text = connection_ ? one_line(PQerrorMessage(connection_.get())) : "";
  if (text.empty()) text = "no answer in time";
  return {Failure::Kind::unavailable, "PostgreSQL: " + text};
}

}  // namespace spillway::store
