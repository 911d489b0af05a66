// New, empty stores of one kind, one after another, each gone with the next.
#pragma once

#include <optional>
#include <string>

#include "tests/support/postgres.hpp"
#include "tests/support/temporary_directory.hpp"

namespace spillway::job_bench {

enum class StoreKind { sqlite, postgres };

// A PostgreSQL server of its own, that flushes what it commits and is not disturbed by checkpoints
// of its own making.
class PostgresServer {
 public:
  PostgresServer();
  std::string create_database() { return server_.create_database(); }

 private:
  support::Postgres server_;
};

class EmptyStores {
 public:
  // Starts a PostgreSQL if it is of that kind. Files are in the directory for temporary files.
  explicit EmptyStores(StoreKind kind);

  // Its URL. The file of the one before is deleted.
  std::string next();

 private:
  std::optional<PostgresServer> server_;
  std::optional<support::TemporaryDirectory> directory_;
};

}  // namespace spillway::job_bench
