#include "store/sqlite/sqlite_schema.hpp"

#include <array>
#include <string>

namespace spillway::store {

namespace {

// An index contains only the jobs that its command looks for, so that its cost and depth do not
// depend on how many others there are.
constexpr const char* kSqliteVersion1 = R"(
CREATE TABLE settings (one INTEGER PRIMARY KEY CHECK (one = 1), key_mark BLOB NOT NULL);
CREATE TABLE proxies (
  epoch INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice
  name TEXT NOT NULL, until INTEGER NOT NULL);
CREATE TABLE routes (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
  queued INTEGER NOT NULL DEFAULT 0, leased INTEGER NOT NULL DEFAULT 0,
  retrying INTEGER NOT NULL DEFAULT 0, succeeded INTEGER NOT NULL DEFAULT 0,
  dead INTEGER NOT NULL DEFAULT 0, expired INTEGER NOT NULL DEFAULT 0,
  cancelled INTEGER NOT NULL DEFAULT 0);
CREATE TABLE jobs (
  seq INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE,
  rank INTEGER NOT NULL, route INTEGER NOT NULL, tenant INTEGER NOT NULL, tenant_name TEXT NOT NULL,
  state INTEGER NOT NULL, due INTEGER NOT NULL, ready INTEGER,
  attempts INTEGER NOT NULL, recoveries INTEGER NOT NULL, cause INTEGER NOT NULL,
  epoch INTEGER, ordered BLOB, blocked INTEGER NOT NULL,
  accepted INTEGER NOT NULL, expires INTEGER NOT NULL, kept INTEGER NOT NULL,
  ended INTEGER, forget_at INTEGER, key_window INTEGER,
  method TEXT NOT NULL, target TEXT NOT NULL, body_bytes INTEGER NOT NULL, status INTEGER NOT NULL);
CREATE INDEX jobs_claimable ON jobs (rank, route, tenant, ready) WHERE ready IS NOT NULL;
CREATE INDEX jobs_expiring ON jobs (expires) WHERE state IN (0, 2);
CREATE INDEX jobs_leased ON jobs (epoch) WHERE state = 1;
CREATE INDEX jobs_ordered ON jobs (route, ordered) WHERE ordered IS NOT NULL AND ended IS NULL;
CREATE INDEX jobs_forgetting ON jobs (forget_at) WHERE forget_at IS NOT NULL;
CREATE INDEX jobs_letters ON jobs (seq) WHERE state IN (4, 5);
CREATE TABLE requests (seq INTEGER PRIMARY KEY, head BLOB NOT NULL, body BLOB NOT NULL);
CREATE TABLE answers (
  seq INTEGER PRIMARY KEY, status INTEGER NOT NULL, is_cut INTEGER NOT NULL,
  fields BLOB NOT NULL, body BLOB NOT NULL);
CREATE TABLE attempts (
  seq INTEGER NOT NULL, n INTEGER NOT NULL, number INTEGER NOT NULL, began INTEGER NOT NULL,
  ended INTEGER NOT NULL, cause INTEGER NOT NULL, status INTEGER NOT NULL, detail TEXT NOT NULL,
  PRIMARY KEY (seq, n)) WITHOUT ROWID;
CREATE TABLE key_windows (
  n INTEGER PRIMARY KEY, began INTEGER NOT NULL, keys INTEGER NOT NULL,
  unfinished INTEGER NOT NULL, keep_until INTEGER NOT NULL);
CREATE TABLE keys_0 (scope BLOB PRIMARY KEY, fingerprint BLOB NOT NULL, id BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE keys_1 (scope BLOB PRIMARY KEY, fingerprint BLOB NOT NULL, id BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE keys_2 (scope BLOB PRIMARY KEY, fingerprint BLOB NOT NULL, id BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE keys_3 (scope BLOB PRIMARY KEY, fingerprint BLOB NOT NULL, id BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE keys_4 (scope BLOB PRIMARY KEY, fingerprint BLOB NOT NULL, id BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE keys_5 (scope BLOB PRIMARY KEY, fingerprint BLOB NOT NULL, id BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE keys_6 (scope BLOB PRIMARY KEY, fingerprint BLOB NOT NULL, id BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE keys_7 (scope BLOB PRIMARY KEY, fingerprint BLOB NOT NULL, id BLOB NOT NULL) WITHOUT ROWID;
)";

// A separate table instead of an index, so that it need not contain all (sqlite_claimable.hpp). The
// column `ready` remains unused; new rows have NULL there. Dropping it would rewrite all rows of
// jobs in one transaction: measured, 263 MB of memory for a million.
constexpr const char* kSqliteVersion2 = R"(
CREATE TABLE claimable (
  rank INTEGER NOT NULL, route INTEGER NOT NULL, tenant INTEGER NOT NULL, due INTEGER NOT NULL,
  seq INTEGER NOT NULL, PRIMARY KEY (rank, route, tenant, due, seq)) WITHOUT ROWID;
INSERT INTO claimable (rank, route, tenant, due, seq)
  SELECT rank, route, tenant, ready, seq FROM jobs INDEXED BY jobs_claimable
  WHERE ready IS NOT NULL ORDER BY rank, route, tenant, ready, seq;
DROP INDEX jobs_claimable;
ALTER TABLE settings ADD COLUMN written_to INTEGER NOT NULL DEFAULT 0;
UPDATE settings SET written_to = (SELECT coalesce(max(seq), 0) FROM jobs);
)";

// The most recently accepted keys (sqlite_recent_keys.hpp).
constexpr const char* kSqliteVersion3 = R"(
CREATE TABLE recent_keys_0 (
  n INTEGER PRIMARY KEY, scope BLOB NOT NULL, fingerprint BLOB NOT NULL, id BLOB NOT NULL,
  window INTEGER NOT NULL);
CREATE TABLE recent_keys_1 (
  n INTEGER PRIMARY KEY, scope BLOB NOT NULL, fingerprint BLOB NOT NULL, id BLOB NOT NULL,
  window INTEGER NOT NULL);
)";

constexpr const char* kPlacesVersion1 = R"(
CREATE TABLE settings (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  secret BLOB NOT NULL, -- of visitors' tokens
  until INTEGER NOT NULL); -- what changed before is in the table of places
CREATE TABLE places (
  room TEXT NOT NULL, id BLOB NOT NULL, kind INTEGER NOT NULL, since INTEGER NOT NULL,
  missed INTEGER NOT NULL, PRIMARY KEY (room, id)) WITHOUT ROWID;
CREATE INDEX places_ended ON places (since) WHERE kind = 0;
)";

constexpr const char* kPlacesVersion2 = R"(
ALTER TABLE places ADD COLUMN priority INTEGER NOT NULL DEFAULT 0; -- of a ticket's tier
)";

constexpr const char* kPlacesVersion3 = R"(
ALTER TABLE places ADD COLUMN user BLOB; -- a verified user's key; NULL: none
)";

constexpr const char* kPlacesVersion4 = R"(
ALTER TABLE places ADD COLUMN ask TEXT NOT NULL DEFAULT ''; -- what it asks for, as a link says it
ALTER TABLE places ADD COLUMN resource TEXT NOT NULL DEFAULT ''; -- what a session has
)";

constexpr const char* kPlacesVersion5 = R"(
CREATE TABLE orders ( -- of the operator
  room TEXT PRIMARY KEY, held_open INTEGER NOT NULL, paused INTEGER NOT NULL, ended INTEGER NOT NULL,
  message TEXT NOT NULL) WITHOUT ROWID;
)";

constexpr const char* kPlacesVersion6 = R"(
ALTER TABLE places ADD COLUMN place INTEGER; -- where a ticket stands that an operator moved
ALTER TABLE places ADD COLUMN tie INTEGER NOT NULL DEFAULT 0; -- and how many stand there before it
DROP INDEX places_ended;
CREATE INDEX places_ended ON places (since) WHERE kind IN (0, 3);
)";

constexpr const char* kPlacesVersion7 = R"(
ALTER TABLE settings ADD COLUMN number INTEGER NOT NULL DEFAULT 1; -- of the secret
ALTER TABLE settings ADD COLUMN since INTEGER NOT NULL DEFAULT 0; -- when it began to sign
ALTER TABLE settings ADD COLUMN former BLOB; -- accepted for a while after it
ALTER TABLE settings ADD COLUMN lasting BLOB; -- of users' keys and of draws
UPDATE settings SET lasting = secret;
)";

constexpr const char* kPlacesVersion8 = R"(
ALTER TABLE places ADD COLUMN reserved INTEGER NOT NULL DEFAULT 0; -- its visitor may be away
)";

constexpr const char* kPlacesVersion9 = R"(
ALTER TABLE places ADD COLUMN used INTEGER NOT NULL DEFAULT 0; -- a session, last; 0: not known
ALTER TABLE settings ADD COLUMN used_until INTEGER NOT NULL DEFAULT 0; -- uses before are in it
)";

constexpr std::array kJobSteps{kSqliteVersion1, kSqliteVersion2, kSqliteVersion3};
constexpr std::array kPlaceSteps{kPlacesVersion1, kPlacesVersion2, kPlacesVersion3,
                                 kPlacesVersion4, kPlacesVersion5, kPlacesVersion6,
                                 kPlacesVersion7, kPlacesVersion8, kPlacesVersion9};

}  // namespace

const Schema kJobTables{0x53504c57, kJobSteps};
const Schema kPlaceTables{0x53504c50, kPlaceSteps};

void migrate(Database& database, const Schema& schema) {
  const std::int64_t version = database.number("PRAGMA user_version").value_or(0);
  if (database.failed() || version >= schema.newest()) return;
  database.run("BEGIN IMMEDIATE");
  for (std::size_t step = static_cast<std::size_t>(version); step < schema.steps.size(); ++step)
    database.run(schema.steps[step]);
  const std::string id = "PRAGMA application_id = " + std::to_string(schema.application_id);
  const std::string now = "PRAGMA user_version = " + std::to_string(schema.newest());
  database.run(id.c_str());
  database.run(now.c_str());
  database.run("COMMIT");
}

}  // namespace spillway::store
