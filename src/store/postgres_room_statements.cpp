#include "store/postgres_statements.hpp"

namespace spillway::store {
namespace {

// $1: the room, $2: the entry. The update waits for the proxy that holds the row, then reads the
// clock.
constexpr std::string_view kWrite = R"sql(
WITH turn AS (
  INSERT INTO room AS r (name, number, time) VALUES ($1::text, 1, now_ms())
  ON CONFLICT (name) DO UPDATE
    SET number = r.number + 1, time = greatest(r.time, now_ms())
  RETURNING number, time)
INSERT INTO room_row (room, number, time, entry)
SELECT $1::text, number, time, $2::bytea FROM turn RETURNING number, time
)sql";

// $1: the room, $2: behind this row, $3: so many. Below a row that is to be seen all are.
constexpr std::string_view kRows = R"sql(
SELECT number, time, entry FROM room_row WHERE room = $1 AND number > $2::int8
ORDER BY number LIMIT $3::int8
)sql";

constexpr std::string_view kSnapshot = R"sql(
SELECT number, state FROM room_snapshot WHERE room = $1
)sql";

// $1: the room, $2: the last row in it, $3: the state. That row stays, so that a proxy that is
// behind finds a gap. At most 20,000 rows are deleted at a time.
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
  INSERT INTO room_secret (secret) VALUES ($1::bytea) ON CONFLICT DO NOTHING RETURNING secret)
SELECT secret FROM made UNION ALL SELECT secret FROM room_secret
)sql";

}  // namespace

std::vector<PostgresStatementText> postgres_room_statements() {
  using enum PostgresStatement;
  return {{room_write, std::string(kWrite)},
          {room_rows, std::string(kRows)},
          {room_snapshot, std::string(kSnapshot)},
          {room_keep, std::string(kKeep)},
          {room_secret, std::string(kSecret)}};
}

}  // namespace spillway::store
