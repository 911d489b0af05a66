// One connection to PostgreSQL through libpq: connects on first use, upgrades the schema, prepares
// the statements, and executes steps in pipeline mode: all are sent before the first result is
// read. Nothing blocks longer than kPatience, whatever the server does.
//
// Prepared statements belong to a session: a connection pooler must be in session mode.
#pragma once

#include <libpq-fe.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/contract/job_store.hpp"
#include "store/postgres/postgres_statements.hpp"
#include "store/postgres/postgres_wire.hpp"

namespace spillway::store {

struct PostgresStep {
  PostgresStatement statement;
  PostgresParameters parameters;
  std::function<void(const PostgresRows&)> read;  // may be called again after a retry
};

struct PostgresFailure {
  Failure failure;
  bool is_conflict = false;   // serialization failure or deadlock: a retry may succeed
  bool is_duplicate = false;  // unique violation
};

// The session's settings, as SQL.
std::string_view postgres_session_settings();

class PostgresConnection {
 public:
  // libpq's URL. Its settings override those made here. `listens`: whether to receive announcements
  // of other sessions. `patience` replaces kPatience.
  explicit PostgresConnection(std::string url, bool listens = true,
                              std::chrono::milliseconds patience = kPatience);

  // Connects if there is no connection, or if the server has closed it.
  std::optional<Failure> ensure();
  // After a failure the session is in a failed transaction: call abandon().
  std::optional<PostgresFailure> run(std::span<const PostgresStep> steps);
  // Rolls back, or closes the connection if that fails.
  void abandon();
  // Announcements of other sessions since the previous call. Neither blocks nor connects: without a
  // connection there are none.
  std::vector<std::string> notifications();
  // Thread-safe: calls that wait for the server fail within kGlance, now and in the future.
  // Connection set-up in progress is not interrupted.
  void interrupt() { is_interrupted_.store(true); }
  // -1: there is no connection.
  int descriptor() const { return connection_ ? PQsocket(connection_.get()) : -1; }

  static constexpr std::chrono::seconds kPatience{10};
  static constexpr std::chrono::milliseconds kGlance{100};

 private:
  struct Close {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  using Time = std::chrono::steady_clock::time_point;

  std::optional<Failure> connect();
  std::optional<Failure> set_up();
  std::optional<Failure> listen();
  bool is_alive();
  bool prepare_all();
  bool send(std::span<const PostgresStep> steps);
  std::optional<PostgresFailure> receive(std::span<const PostgresStep> steps);
  std::optional<PostgresFailure> receive_sync(std::optional<PostgresFailure> so_far);
  // The next result; null at the end of a statement's results. False: the connection broke, or
  // kPatience has passed.
  bool next_result(PGresult*& result);
  bool flush();
  // Waits for the socket. False: kPatience has passed, or interrupt() was called.
  bool wait(short events, short& ready) const;
  Failure broken();

  const std::string url_;
  const bool listens_;
  const std::chrono::milliseconds patience_;
  std::atomic<bool> is_interrupted_{false};
  std::unique_ptr<PGconn, Close> connection_;
  Time deadline_{};
  Time next_attempt_{};  // delayed after one that took long
};

}  // namespace spillway::store
