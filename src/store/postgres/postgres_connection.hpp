// One connection to PostgreSQL through libpq: connects when it is used, brings the schema up to
// date, prepares the statements, and executes steps in pipeline mode: all are sent before the first
// result is read. Nothing waits longer than kPatience, whatever the server does.
//
// Prepared statements belong to a session: a pooler between must be in session mode.
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
  bool is_conflict = false;   // serialization failure or deadlock: the same again may succeed
  bool is_duplicate = false;  // unique violation
};

// What the session is set to, as SQL.
std::string_view postgres_session_settings();

class PostgresConnection {
 public:
  // libpq's URL. Its own settings come before those made here. `listens`: to what other sessions
  // announce. `patience`: in place of kPatience.
  explicit PostgresConnection(std::string url, bool listens = true,
                              std::chrono::milliseconds patience = kPatience);

  // Connects if there is no connection, or the server has ended it.
  std::optional<Failure> ensure();
  // After a failure the session is in a transaction that has failed: see abandon().
  std::optional<PostgresFailure> run(std::span<const PostgresStep> steps);
  // Rolls back, or closes the connection if that fails.
  void abandon();
  // What other sessions have announced since it was asked last. Neither waits nor connects: without
  // a connection nothing is heard.
  std::vector<std::string> notifications();
  // Thread-safe: what waits for the server fails within kGlance, now and later. A connection that
  // is being made is waited for.
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
  // kPatience is over.
  bool next_result(PGresult*& result);
  bool flush();
  // For the socket. False: kPatience is over, or interrupt() was called.
  bool wait(short events, short& ready) const;
  Failure broken();

  const std::string url_;
  const bool listens_;
  const std::chrono::milliseconds patience_;
  std::atomic<bool> is_interrupted_{false};
  std::unique_ptr<PGconn, Close> connection_;
  Time deadline_{};
  Time next_attempt_{};  // after one that took long
};

}  // namespace spillway::store
