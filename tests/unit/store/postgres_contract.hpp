// The PostgreSQL store for the contract test: a database of its own on a server that all test cases
// of the process share, and a clock that stands still.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "support/postgres.hpp"
#include "unit/store/contract.hpp"

namespace spillway::store {

// Started when it is first asked for; ends with the process.
support::Postgres& postgres_server();

class PostgresContract : public Contract {
 public:
  explicit PostgresContract(std::optional<Key> key = {}) : key_(key) {}
  bool is_available() const override { return support::Postgres::is_installed(); }
  std::unique_ptr<JobStore> make() override;
  std::unique_ptr<JobStore> reopen() override;
  void pass(std::chrono::milliseconds time) override;
  bool is_shared() const override { return true; }

  const std::string& url() const { return url_; }

 private:
  void set_clock() const;

  const std::optional<Key> key_;
  std::string url_;
};

// What is sealed is read as it was written.
class SealedPostgresContract final : public PostgresContract {
 public:
  SealedPostgresContract() : PostgresContract(Key{{1, 2, 3}}) {}
};

}  // namespace spillway::store
