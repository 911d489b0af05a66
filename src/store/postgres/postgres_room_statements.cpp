// The SQL for the log of a waiting room and its snapshots.
#include "store/postgres/postgres_statements.hpp"

namespace spillway::store {
namespace {

// $1: the room, $2: the entry. The update first waits for a proxy that holds the row, then reads
// the clock.
constexpr std::string_view kWrite = R"sql(
WITH turn AS (
  INSERT INTO room AS r (name, number, time) VALUES ($1::text, 1, now_ms())
  ON CONFLICT (name) DO UPDATE
    SET number = r.number + 1, time = greatest(r.time, now_ms())
  RETURNING number, time)
INSERT INTO room_row (room, number, time, entry)
SELECT $1::text, number, time, $2::bytea FROM turn RETURNING number, time
)sql";

// $1: the room, $2: rows after this one, $3: how many. If a row is visible, all before it are.
constexpr std::string_view kRows = R"sql(
SELECT number, time, entry FROM room_row WHERE room = $1 AND number > $2::int8
ORDER BY number LIMIT $3::int8
)sql";

constexpr std::string_view kSnapshot = R"sql(
SELECT number, state FROM room_snapshot WHERE room = $1
)sql";

// $1: the room, $2: the last row included, $3: the state. That row is kept, so that a proxy that is
// behind detects a gap. At most 20,000 rows are deleted at a time.
constexpr std::string_view kKeep = R"sql(
WITH kept AS (
  INSERT INTO room_snapshot AS s (room, number, state) VALUES ($1, $2, $3)
  ON CONFLICT (room) DO UPDATE SET number = excluded.number, state = excluded.state
    WHERE s.number < excluded.number
  RETURNING number)
DELETE FROM room_row r USING kept WHERE r.room = $1 AND r.number < kept.number
  AND r.number < (SELECT min(number) FROM room_row WHERE room = $1) + 20000
)sql";

constexpr std::string_view kSecret = R"sql(
WITH made AS (
  INSERT INTO room_secret (secret, lasting) VALUES ($1::bytea, $1::bytea) ON CONFLICT DO NOTHING
  RETURNING number, secret, since, lasting, former)
SELECT number, secret, since, lasting, former FROM made
UNION ALL SELECT number, secret, since, lasting, former FROM room_secret
)sql";

constexpr std::string_view kSecrets = R"sql(
SELECT number, secret, since, lasting, former FROM room_secret
)sql";

// $1: the new secret, $2: at once, $3: time to announce it, $4: how long the former is accepted.
constexpr std::string_view kReplace = R"sql(
UPDATE room_secret SET number = number + 1, secret = $1::bytea,
  since = now_ms() + CASE WHEN $2::bool THEN 0 ELSE $3::int8 END,
  lasting = CASE WHEN $2 THEN $1 ELSE lasting END,
  former = CASE WHEN $2 THEN NULL ELSE secret END
WHERE $2 OR former IS NULL OR since + $4::int8 <= now_ms()
RETURNING number, secret, since, lasting, former
)sql";

// $1: the number, $2: the secret, $3: since when it signs, $4: the lasting one, $5: the former one.
constexpr std::string_view kRestore = R"sql(
UPDATE room_secret SET number = $1::int8, secret = $2::bytea, since = $3::int8, lasting = $4::bytea,
  former = $5::bytea
WHERE number < $1::int8
)sql";

// $1: names to keep, $2: the minimum time without a new row. The row in `room` is locked first, as
// in kWrite.
constexpr std::string_view kForgetRooms = R"sql(
WITH gone AS (
  DELETE FROM room WHERE time < now_ms() - $2::int8 AND name <> ALL ($1::text[]) RETURNING name),
rows AS (DELETE FROM room_row r USING gone WHERE r.room = gone.name)
DELETE FROM room_snapshot s USING gone WHERE s.room = gone.name
)sql";

// $1: how long a former secret is accepted.
constexpr std::string_view kForgetFormer = R"sql(
UPDATE room_secret SET former = NULL WHERE former IS NOT NULL AND since + $1::int8 <= now_ms()
)sql";

}  // namespace

std::vector<PostgresStatementText> postgres_room_statements() {
  using enum PostgresStatement;
  return {{room_write, std::string(kWrite)},       {room_rows, std::string(kRows)},
          {room_snapshot, std::string(kSnapshot)}, {room_keep, std::string(kKeep)},
          {room_secret, std::string(kSecret)},     {room_secrets, std::string(kSecrets)},
          {room_replace, std::string(kReplace)},   {room_forget_former, std::string(kForgetFormer)},
          {room_restore, std::string(kRestore)},   {room_forget, std::string(kForgetRooms)}};
}

}  // namespace spillway::store
