// The SQL for reading jobs, and for purging them.
#include <string_view>

#include "base/ids.hpp"
#include "store/postgres/postgres_statements.hpp"

// Lists have one statement for each table that they may start from, so that none reads more rows
// than necessary: a statement has one plan, whichever parameters are null.
namespace spillway::store {
namespace {

constexpr std::string_view kView = R"sql(
SELECT j.id, j.rank, j.route, j.tenant, j.tenant_name, j.method, j.target, j.accepted,
  coalesce(w.expires, l.expires, e.expires),
  coalesce(w.state, CASE WHEN l.id IS NOT NULL THEN 1::int2 END, e.state),
  coalesce(w.due, l.due, e.due), coalesce(w.attempts, l.attempts, e.attempts),
  coalesce(w.recoveries, l.recoveries, e.recoveries), coalesce(w.cause, l.cause, e.cause),
  coalesce(e.ended, 0), j.body_bytes, coalesce(e.status, 0)::int2
)sql";

constexpr std::string_view kFromJobs = R"sql(
FROM job j LEFT JOIN waiting w ON w.number = j.number LEFT JOIN leased l ON l.id = j.id
  LEFT JOIN ended e ON e.number = j.number
)sql";

constexpr std::string_view kFromWaiting = R"sql(
FROM waiting w JOIN job j ON j.number = w.number LEFT JOIN leased l ON false
  LEFT JOIN ended e ON false
)sql";

// The few leased jobs, joined with their other columns.
constexpr std::string_view kFromLeased = R"sql(
FROM (SELECT * FROM leased WHERE epoch > 0 OFFSET 0) AS l JOIN job j ON j.number = l.number
  LEFT JOIN waiting w ON false
  LEFT JOIN ended e ON false
)sql";

constexpr std::string_view kFromEnded = R"sql(
FROM ended e JOIN job j ON j.number = e.number LEFT JOIN waiting w ON false
  LEFT JOIN leased l ON false
)sql";

// $1 to $8, as added by add_filter().
constexpr std::string_view kFilter = R"sql(
WHERE coalesce(w.state, CASE WHEN l.id IS NOT NULL THEN 1::int2 END, e.state)
        = coalesce($1::int2, w.state, CASE WHEN l.id IS NOT NULL THEN 1::int2 END, e.state)
  AND ($2::text IS NULL OR j.route = $2)
  AND ($3::int2 IS NULL OR coalesce(w.cause, l.cause, e.cause) = $3)
  AND ($4::int8 IS NULL OR j.accepted >= $4) AND ($5::int8 IS NULL OR j.accepted < $5)
  AND ($6::int8 IS NULL OR e.ended >= $6) AND ($7::int8 IS NULL OR e.ended < $7)
  AND ($8::uuid IS NULL OR j.id = $8)
)sql";
constexpr std::string_view kIsDead = " AND e.state IN (4, 5) ";
constexpr std::string_view kIsOne = " AND j.id = $8::uuid ";

// A single ended job, found by its id.
constexpr std::string_view kIsOneEnded =
    " AND e.number = (SELECT o.number FROM job o WHERE o.id = $8::uuid) ";

std::string list_text(std::string_view from, std::string_view which, std::string_view number) {
  std::string text(kView);
  text.append(from).append(kFilter).append(which).append(" AND ").append(number);
  text += " > coalesce((SELECT a.number FROM job a WHERE a.id = $9::uuid), 0) ORDER BY ";
  return text.append(number).append(" LIMIT $10::int8");
}

std::string picked_text(std::string_view which, std::string_view columns) {
  std::string text = "SELECT ";
  text.append(columns).append(kFromEnded).append(kFilter).append(which);
  return text += " ORDER BY e.number LIMIT $9::int8 FOR UPDATE OF e SKIP LOCKED";
}

std::string pick_dead_text(std::string_view which) {
  return picked_text(std::string(kIsDead).append(which),
                     "e.number, e.state, e.due, e.attempts, e.recoveries, e.cause, e.ended, j.id, "
                     "j.ordered_by IS NOT NULL, now_ms()");
}

// Examines the next $13 ended jobs after number $12, picks at most 1000 of those that match the
// filter, and deletes as many as have $14 bytes. $9: the maximum. $10: a dry run, which counts
// those picked. $11: how long an Idempotency-Key outlives its job, unless the job would have been
// kept longer. Returns how many, and the number after which to continue. OFFSET keeps the planner
// from reading other jobs than these.
constexpr std::string_view kPurgeFrom = R"sql(
FROM ended e CROSS JOIN LATERAL (SELECT * FROM job k WHERE k.number = e.number OFFSET 0) AS j
  LEFT JOIN waiting w ON false LEFT JOIN leased l ON false
)sql";
constexpr std::string_view kPurge = R"sql(
 AND e.number > $12::int8 AND e.number <= coalesce((SELECT number FROM bound), 9223372036854775807)
 ORDER BY e.number LIMIT LEAST($9::int8, 1000) FOR UPDATE OF e SKIP LOCKED),
sized AS MATERIALIZED (
  SELECT p.*, $10::bool OR coalesce(
    sum(p.bytes) OVER (ORDER BY p.number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)
      < $14::int8 AS fits
  FROM picked p),
gone AS MATERIALIZED (SELECT * FROM sized WHERE fits AND NOT $10),
endings AS (DELETE FROM ended e USING gone g WHERE e.number = g.number),
attempts AS (DELETE FROM attempt a USING gone g WHERE a.period = g.period AND a.number = g.number),
answers AS (DELETE FROM answer a USING gone g WHERE a.period = g.period AND a.number = g.number),
contents AS (DELETE FROM content c USING gone g WHERE c.period = g.period AND c.number = g.number),
remembered AS (
  INSERT INTO remnant (number, forget)
  SELECT g.number, g.ended + GREATEST(j.kept, $11::int8)
  FROM gone g JOIN job j ON j.number = g.number WHERE j.scope IS NOT NULL),
emptied AS (UPDATE job j SET method = '', target = '', tenant_name = '' FROM gone g
            WHERE j.number = g.number AND j.scope IS NOT NULL),
jobs AS (DELETE FROM job j USING gone g WHERE j.number = g.number AND j.scope IS NULL)
SELECT count(*) FILTER (WHERE fits),
  CASE WHEN count(*) FILTER (WHERE fits) >= $9 THEN NULL
       WHEN count(*) >= 1000 OR bool_or(NOT fits) THEN max(number) FILTER (WHERE fits)
       ELSE (SELECT number FROM bound) END
FROM sized
)sql";

// `among`: which ended jobs (as b) are examined.
std::string purge_text(std::string_view which, std::string_view among) {
  std::string text = "WITH bound AS MATERIALIZED (SELECT b.number FROM ended b WHERE ";
  text.append(among).append(" AND b.number > $12::int8 ORDER BY b.number OFFSET $13::int8 - 1");
  text.append(" LIMIT 1), picked AS MATERIALIZED (SELECT e.number, e.ended, e.period, (");
  text.append("j.body_bytes + coalesce((SELECT octet_length(a.body) FROM answer a WHERE ");
  text.append("a.period = e.period AND a.number = e.number), 0))::float8 AS bytes");
  return text.append(kPurgeFrom).append(kFilter).append(which).append(kPurge);
}

// The number of jobs up to it in its lane, itself included; at most $2.
constexpr std::string_view kPosition = R"sql(
SELECT count(*) FROM (
  SELECT FROM waiting me JOIN waiting w ON w.rank = me.rank AND w.route = me.route
    AND w.tenant = me.tenant AND NOT w.is_blocked
    AND (w.due, w.number) <= (me.due, me.number)
  WHERE me.number = (SELECT number FROM job WHERE id = $1::uuid) LIMIT $2::int8) AS before
)sql";

constexpr std::string_view kReadAnswer = R"sql(
SELECT coalesce(w.state, CASE WHEN l.id IS NOT NULL THEN 1::int2 END, e.state), e.status,
  e.is_cut, a.fields, a.body
)sql";

constexpr std::string_view kReadAttempts = R"sql(
SELECT counted, began, ended, cause, status, detail FROM (
  SELECT a.* FROM job j JOIN attempt a ON a.number = j.number AND a.period = j.period
  WHERE j.id = $1::uuid ORDER BY a.place DESC LIMIT $2::int8) AS latest
ORDER BY place
)sql";

// $1 to $6: numbers and progress. $7: the time to live. If the job's line has others, it waits for
// the one that may run now, and goes next.
constexpr std::string_view kReplay = R"sql(
WITH gone AS (
  DELETE FROM ended e USING unnest($1::int8[], $2::int2[], $3::int8[], $4::int4[], $5::int4[],
                                   $6::int2[])
    AS i(number, state, due, attempts, recoveries, cause)
  WHERE e.number = i.number
  RETURNING i.*, e.period),
answers AS (DELETE FROM answer a USING gone g WHERE a.period = g.period AND a.number = g.number),
lined AS (INSERT INTO line (number, ordered_by, route)
          SELECT j.number, j.ordered_by, j.route FROM gone g JOIN job j ON j.number = g.number
          WHERE j.ordered_by IS NOT NULL)
INSERT INTO waiting (number, id, rank, route, tenant, due, expires, kept, state, attempts,
                     recoveries, cause, ordered_by, is_blocked, period)
SELECT j.number, j.id, j.rank, j.route, j.tenant, g.due, now_ms() + $7::int8, j.kept, g.state,
       g.attempts, g.recoveries, g.cause, j.ordered_by,
       j.ordered_by IS NOT NULL AND (
         row_number() OVER (PARTITION BY j.ordered_by, j.route ORDER BY j.number) > 1 OR
         EXISTS (SELECT FROM line l WHERE l.ordered_by = j.ordered_by AND l.route = j.route
                 AND NOT l.is_over)), g.period
FROM gone g JOIN job j ON j.number = g.number
)sql";

// State 7 is used for the due time of the first claimable job, 8 for when the first of all dead and
// expired jobs was accepted.
constexpr std::string_view kTotals = R"sql(
WITH RECURSIVE lane AS (
  (SELECT rank, route, tenant, due FROM waiting WHERE NOT is_blocked
   ORDER BY rank, route, tenant, due LIMIT 1)
  UNION ALL
  SELECT n.* FROM lane l CROSS JOIN LATERAL (
    SELECT w.rank, w.route, w.tenant, w.due FROM waiting w
    WHERE NOT w.is_blocked AND (w.rank, w.route, w.tenant) > (l.rank, l.route, l.tenant)
    ORDER BY w.rank, w.route, w.tenant, w.due LIMIT 1) AS n)
SELECT route, state, count(*) FROM waiting GROUP BY route, state
UNION ALL SELECT route, 1::int2, count(*) FROM leased GROUP BY route
UNION ALL SELECT route, state, count(*) FROM ended GROUP BY route, state
UNION ALL SELECT route, 7::int2, min(due) FROM lane WHERE due <= (SELECT now_ms()) GROUP BY route
UNION ALL SELECT e.route, 8::int2, j.accepted
  FROM (SELECT number, period, route FROM ended WHERE state IN (4, 5) ORDER BY number LIMIT 1) AS e
  JOIN job j ON j.number = e.number AND j.period = e.period
)sql";

// Also how many dead rows claims may have to read past. Any role may read that; which transaction
// keeps them, it may not.
constexpr std::string_view kSizes = R"sql(
SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::int8,
  (SELECT coalesce(sum(n_dead_tup), 0)::int8 FROM pg_stat_user_tables
   WHERE schemaname = current_schema() AND relname IN ('waiting', 'leased'))
FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
)sql";

// No row: there are jobs written with another key.
constexpr std::string_view kKeepMark = R"sql(
INSERT INTO settings (key_mark) VALUES ($1::bytea)
ON CONFLICT (one) DO UPDATE SET key_mark = $1
WHERE settings.key_mark = $1 OR (NOT EXISTS (SELECT FROM job) AND
  NOT EXISTS (SELECT FROM proxy WHERE NOT is_over AND lease_end > now_ms())) -- that has another key
RETURNING one
)sql";

std::string of_one(std::string_view columns, std::string_view from) {
  return std::string(columns).append(from).append(
      " WHERE j.id = $1::uuid AND coalesce(w.number, l.number, e.number) IS NOT NULL");
}

}  // namespace

std::vector<PostgresStatementText> postgres_view_statements() {
  using enum PostgresStatement;
  const std::string with_answer =
      std::string(kFromJobs) + " LEFT JOIN answer a ON a.period = j.period AND a.number = j.number";
  const std::string with_content =
      std::string(kView) + ", c.head, substring(c.body FROM 1 FOR $2::int4)";
  const std::string and_content =
      std::string(kFromJobs) +
      " LEFT JOIN content c ON c.period = j.period AND c.number = j.number";
  return {
      {find, of_one(kView, kFromJobs)},
      {position, std::string(kPosition)},
      {read_answer, of_one(kReadAnswer, with_answer)},
      {inspect, of_one(with_content, and_content)},
      {read_attempts, std::string(kReadAttempts)},
      {list_all, list_text(kFromJobs, "", "j.number")},
      {list_waiting, list_text(kFromWaiting, "", "w.number")},
      {list_leased, list_text(kFromLeased, "", "l.number")},
      {list_ended, list_text(kFromEnded, "", "e.number")},
      {list_dead, list_text(kFromEnded, kIsDead, "e.number")},
      {list_one, list_text(kFromJobs, kIsOne, "j.number")},
      {pick_dead, pick_dead_text("")},
      {pick_dead_one, pick_dead_text(kIsOne)},
      {replay, std::string(kReplay)},
      {purge, purge_text("", "true")},
      {purge_dead, purge_text(kIsDead, "b.state IN (4, 5)")},
      {purge_one, purge_text(kIsOneEnded, "false")},
      {totals, std::string(kTotals)},
      {sizes, std::string(kSizes)},
      {hurry, "SELECT set_config('statement_timeout', '900', true)"},
      {keep_mark, std::string(kKeepMark)},
  };
}

std::vector<PostgresStatementText> postgres_statements() {
  std::vector<PostgresStatementText> all = postgres_queue_statements();
  for (auto* more :
       {postgres_lease_statements, postgres_view_statements, postgres_room_statements}) {
    for (PostgresStatementText& each : more()) all.push_back(std::move(each));
  }
  return all;
}

std::string prepared_name(PostgresStatement statement) {
  return "spillway_" + std::to_string(index(statement));
}

}  // namespace spillway::store
