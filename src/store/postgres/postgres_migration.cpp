#include "store/postgres/postgres_migration.hpp"

#include <cstdlib>
#include <memory>
#include <string>

#include "store/postgres/postgres_schema.hpp"

namespace spillway::store {
namespace {

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, ClearResult>;

std::string first_value(const Result& result) {
  return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

bool is_good_result(const Result& result) {
  const ExecStatusType status = PQresultStatus(result.get());
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

// Runs commands one after another and remembers the first failure.
class Migration {
 public:
  explicit Migration(PGconn* connection) : connection_(connection) {}

  std::string ask(const std::string& query, const std::string& parameter) {
    const char* const value = parameter.c_str();
    return take(PQexecParams(connection_, query.c_str(), 1, nullptr, &value, nullptr, nullptr, 0));
  }
  std::string ask(const std::string& query) { return take(PQexec(connection_, query.c_str())); }

  bool failed() const { return failure_.has_value(); }
  std::optional<Failure> failure() const { return failure_; }

  void refuse(Failure::Kind kind, std::string text) {
    if (!failure_) failure_ = Failure{kind, std::move(text)};
  }

 private:
  std::string take(PGresult* taken) {
    const Result result(taken);
    if (is_good_result(result)) return first_value(result);
    if (!failure_) failure_ = postgres_failure(taken);
    return {};
  }

  PGconn* connection_;
  std::optional<Failure> failure_;
};

// As an SQL identifier.
std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) text.append(c == '"' ? 2 : 1, c);
  return text + '"';
}

// The first schema of a search_path set in the URL; otherwise Spillway's own.
std::string schema_name(Migration& migration) {
  const std::string path = migration.ask(
      "SELECT trim(both ' \"' from split_part(setting, ',', 1)) FROM pg_settings "
      "WHERE name = 'search_path' AND source = 'client'");
  return path.empty() ? std::string(kPostgresSchema) : path;
}

// Called with the lock held.
void bring_up_to_date(Migration& migration, const std::string& schema) {
  const auto migrations = postgres_migrations();
  if (migration.ask("SELECT to_regnamespace($1)", schema).empty()) {
    migration.ask("CREATE SCHEMA " + schema);
  }
  const bool has_version = migration.ask("SELECT to_regclass($1)", schema + ".version") != "";
  const bool has_jobs = migration.ask("SELECT to_regclass($1)", schema + ".job") != "";
  if (migration.failed()) return;
  if (has_jobs && !has_version) {
    migration.refuse(Failure::Kind::corrupt, "The schema " + schema +
                                                 " of the database has tables of that name which "
                                                 "are not a store of Spillway.");
    return;
  }
  if (!has_version) {
    migration.ask("CREATE TABLE version (number integer NOT NULL)");
    migration.ask("INSERT INTO version VALUES (0)");
  }
  const std::string version = migration.ask("SELECT number FROM version");
  const std::size_t present = static_cast<std::size_t>(std::atoi(version.c_str()));
  if (!migration.failed() && present > migrations.size()) {
    migration.refuse(Failure::Kind::newer_version,
                     "The schema " + schema + " of the database has version " + version +
                         "; this Spillway knows version " + std::to_string(migrations.size()) +
                         " at most.");
  }
  for (std::size_t i = present; i < migrations.size() && !migration.failed(); ++i) {
    migration.ask(std::string(migrations[i]));
    migration.ask("UPDATE version SET number = " + std::to_string(i + 1));
  }
}

}  // namespace

std::optional<Failure> migrate_postgres(PGconn* connection) {
  Migration migration(connection);
  const std::string schema = quoted(schema_name(migration));
  migration.ask("SET search_path TO " + schema);
  // The common case, which takes no lock and needs no permission to create anything.
  const bool exists = migration.ask("SELECT to_regclass($1)", schema + ".version") != "";
  if (migration.failed()) return migration.failure();
  if (exists) {
    const std::string version = migration.ask("SELECT number FROM version");
    if (version == std::to_string(postgres_migrations().size())) return migration.failure();
  }
  migration.ask("BEGIN");
  migration.ask("SET LOCAL statement_timeout = 0");  // many rows may have to be rewritten
  migration.ask("SELECT pg_advisory_xact_lock(hashtextextended('spillway ' || $1, 19))", schema);
  bring_up_to_date(migration, schema);
  const std::optional<Failure> failure = migration.failure();
  Migration end(connection);
  end.ask(failure ? "ROLLBACK" : "COMMIT");
  return failure ? failure : end.failure();
}

Failure postgres_failure(const PGresult* result) {
  const char* const field = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string state = field ? field : "";
  Failure failure{Failure::Kind::unavailable,
                  "PostgreSQL: " + one_line(PQresultErrorMessage(result))};
  if (state == "53100") failure.kind = Failure::Kind::full;              // disk_full
  if (state.starts_with("XX00")) failure.kind = Failure::Kind::corrupt;  // data, index corrupted
  if (state == "XX000") failure.kind = Failure::Kind::unavailable;       // internal_error
  return failure;
}

std::string one_line(std::string_view message) {
  std::string text;
  for (const char c : message) {
    const bool is_space = c == '\n' || c == '\t' || c == ' ';
    if (!is_space) text += c;
    if (is_space && !text.empty() && text.back() != ' ') text += ' ';
  }
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace spillway::store
