// The SQL for proxies and their leases, and for everything that expires.
#include "store/postgres/postgres_statements.hpp"

// Each (SELECT now_ms()) is evaluated once and may bound an index scan; now_ms() itself would be
// evaluated for each row.
namespace spillway::store {
namespace {

// $3: the proxy's former registration; skipped if a statement of that is still running.
constexpr std::string_view kJoin = R"sql(
WITH former AS (
  UPDATE proxy SET is_over = true
  WHERE epoch IN (SELECT epoch FROM proxy WHERE epoch = $3::int8 FOR UPDATE SKIP LOCKED))
INSERT INTO proxy (name, lease_end, backend, backend_since)
VALUES ($1::bytea, now_ms() + $2::int8, pg_backend_pid(),
        (SELECT a.backend_start FROM pg_stat_activity a WHERE a.pid = pg_backend_pid()))
RETURNING epoch, now_ms()
)sql";

// A lease may be over only because the clock was set forward; once a proxy is condemned, it is too
// late. One row for each part of a cap that another proxy holds, and at least one. The parts are
// read as of the statement's start, so before the others can see what this one writes.
constexpr std::string_view kRenew = R"sql(
WITH renewed AS (
  UPDATE proxy SET lease_end = now_ms() + $2::int8, rate = $3::int8,
    cap_route = $4::text[], cap_kind = $5::int2[], cap_held = $6::int8[], cap_shares = $7::bool[],
    renewal = $8::int8,
    backend = pg_backend_pid(), backend_since =
      (SELECT a.backend_start FROM pg_stat_activity a WHERE a.pid = pg_backend_pid())
  WHERE epoch = $1::int8 AND NOT is_over AND renewal <= $8
  RETURNING epoch),
other AS MATERIALIZED (SELECT * FROM proxy WHERE epoch <> $1 AND NOT is_over)
SELECT now_ms(), (SELECT coalesce(sum(o.rate), 0)::int8 FROM other o
                  WHERE o.lease_end > (SELECT now_ms())),
  p.epoch, p.route, p.kind, p.held, p.shares
FROM renewed LEFT JOIN (
  SELECT o.epoch, c.* FROM other o
  CROSS JOIN LATERAL unnest(o.cap_route, o.cap_kind, o.cap_held, o.cap_shares)
    AS c(route, kind, held, shares)) AS p ON true
)sql";

constexpr std::string_view kLeave = "DELETE FROM proxy WHERE epoch = $1::int8";

// A condemned proxy claims nothing: a claim holds a share lock on its row. So the next statement
// sees all jobs that it ever leased. $1, $2: the proxies, each with the end of its lease; one that
// has renewed since has a different end. $3: all whose lease is over.
constexpr std::string_view kCondemn = R"sql(
UPDATE proxy SET is_over = true WHERE epoch IN (
  SELECT epoch FROM proxy WHERE NOT is_over AND lease_end <= (SELECT now_ms())
    AND ($3::bool OR
         (epoch, lease_end) IN (SELECT i.* FROM unnest($1::int8[], $2::int8[]) AS i(epoch, lease_end)))
  FOR UPDATE SKIP LOCKED)
)sql";

// A transaction of such a proxy holds locks for as long as the proxy hangs, over a Unix socket for
// ever: a share lock on its row, which keeps it from being condemned, or locks of orders. So its
// session is terminated if it is active. $1 to $3 as for kCondemn. A role may end its own sessions.
constexpr std::string_view kEndSessions = R"sql(
SELECT count(pg_terminate_backend(a.pid)) FROM proxy p
JOIN pg_stat_activity a ON a.pid = p.backend AND a.backend_start = p.backend_since
WHERE p.lease_end <= (SELECT now_ms())
  AND ($3::bool OR
       (p.epoch, p.lease_end) IN (SELECT i.* FROM unnest($1::int8[], $2::int8[]) AS i(epoch, lease_end)))
  AND a.usename = current_user AND a.state <> 'idle' AND a.pid <> pg_backend_pid()
)sql";

constexpr std::string_view kSeeLeases = "SELECT epoch, lease_end FROM proxy WHERE NOT is_over";

constexpr std::string_view kForgetProxies = R"sql(
DELETE FROM proxy p WHERE is_over AND NOT EXISTS (SELECT FROM leased l WHERE l.epoch = p.epoch)
RETURNING epoch
)sql";

constexpr std::string_view kEndWaiting = R"sql(
WITH gone AS (
  DELETE FROM waiting w USING unnest($1::int8[], $2::int2[], $3::int8[], $4::int4[], $5::int4[],
                                     $6::int2[], $7::int8[])
    AS i(number, state, due, attempts, recoveries, cause, ended)
  WHERE w.number = i.number
  RETURNING w.number, w.route, w.expires, w.kept, w.ordered_by, w.is_blocked, w.period,
            i.state, i.due, i.attempts, i.recoveries, i.cause, i.ended),
over_now AS (
  UPDATE line n SET is_over = true FROM gone g
  WHERE NOT g.is_blocked AND n.ordered_by = g.ordered_by AND n.route = g.route
    AND n.number = g.number),
stepped_out AS (
  DELETE FROM line n USING gone g
  WHERE g.is_blocked AND n.ordered_by = g.ordered_by AND n.route = g.route AND n.number = g.number)
INSERT INTO ended (number, due, expires, ended, forget, attempts, recoveries, state, cause, route,
                   period)
SELECT number, due, expires, ended, ended + kept, attempts, recoveries, state, cause, route, period
FROM gone
)sql";

// An Idempotency-Key is known for 24 hours after the end of its job ($2), which may be longer
// than the job is kept: until then only the key remains of the job, and nothing that its
// client has sent. Heads, bodies, answers and attempts are dropped with their period, except
// in period -1 (postgres_kept.hpp), where few are forgotten at a time, since they may be
// long.
constexpr std::string_view kForget = R"sql(
WITH moment AS MATERIALIZED (SELECT now_ms() AS at),
gone AS (
  DELETE FROM ended WHERE number IN (
    SELECT number FROM (
      SELECT number, period, row_number() OVER (PARTITION BY period < 0) AS place FROM (
        SELECT number, period FROM ended WHERE forget <= (SELECT at FROM moment)
        ORDER BY forget LIMIT $1::int8 FOR UPDATE SKIP LOCKED) AS due) AS placed
    WHERE period >= 0 OR place <= 32)
  RETURNING number, ended, period),
attempts AS (DELETE FROM attempt a USING gone g
             WHERE g.period = -1 AND a.period = -1 AND a.number = g.number),
answers AS (DELETE FROM answer a USING gone g
            WHERE g.period = -1 AND a.period = -1 AND a.number = g.number),
contents AS (DELETE FROM content c USING gone g
             WHERE g.period = -1 AND c.period = -1 AND c.number = g.number),
remembered AS (
  INSERT INTO remnant (number, forget)
  SELECT g.number, g.ended + $2::int8 FROM gone g JOIN job j ON j.number = g.number
  WHERE j.scope IS NOT NULL AND g.ended + $2::int8 > (SELECT at FROM moment)),
emptied AS (
  UPDATE job j SET method = '', target = '', tenant_name = '' FROM gone g
  WHERE j.number = g.number AND j.scope IS NOT NULL AND g.ended + $2::int8 > (SELECT at FROM moment)),
jobs AS (
  DELETE FROM job j USING gone g
  WHERE j.number = g.number
    AND (j.scope IS NULL OR g.ended + $2::int8 <= (SELECT at FROM moment)))
SELECT count(*) FROM gone
)sql";

constexpr std::string_view kForgetKeys = R"sql(
WITH gone AS (
  DELETE FROM remnant WHERE number IN (
    SELECT number FROM remnant WHERE forget <= (SELECT now_ms()) ORDER BY forget LIMIT $1::int8
    FOR UPDATE SKIP LOCKED) RETURNING number)
DELETE FROM job j USING gone g WHERE j.number = g.number
)sql";

// Begins a period ($1: the minimum duration of each) and drops the oldest one if nothing is left of
// it.
constexpr std::string_view kTurnPeriods = "SELECT turn_periods($1::int8)";

constexpr std::string_view kHoldHistory = R"sql(
SELECT pg_advisory_xact_lock_shared(hashtextextended('spillway ' || current_schema(), 21))
)sql";

// Steps from lane to lane: each step finds the first job of the next lane in the index. The steps
// run as their rows are read, $2 of them at most. $3 to $5: the lane to start after.
constexpr std::string_view kLanes = R"sql(
WITH RECURSIVE lane AS (
  (SELECT rank, route, tenant, due FROM waiting
   WHERE NOT is_blocked AND (rank, route, tenant) > ($3::int2, $4::text, $5::int8)
   ORDER BY rank, route, tenant, due LIMIT 1)
  UNION ALL
  SELECT n.* FROM lane l CROSS JOIN LATERAL (
    SELECT w.rank, w.route, w.tenant, w.due FROM waiting w
    WHERE NOT w.is_blocked AND (w.rank, w.route, w.tenant) > (l.rank, l.route, l.tenant)
    ORDER BY w.rank, w.route, w.tenant, w.due LIMIT 1) AS n)
SELECT rank, route, tenant, due, due <= (SELECT now_ms()) + $1::int8 FROM lane LIMIT $2::int8
)sql";

constexpr std::string_view kAnnounce = R"sql(
SELECT pg_notify('spillway_' || md5(current_schema()), lane) FROM unnest($1::text[]) AS i(lane)
)sql";

// The waiting jobs of a route; at most $2.
constexpr std::string_view kCountWaiting = R"sql(
SELECT count(*) FROM (
  SELECT FROM generate_series(0, 255) AS r(rank) CROSS JOIN LATERAL (
    SELECT FROM waiting w
    WHERE w.rank = r.rank::int2 AND w.route = $1::text AND NOT w.is_blocked LIMIT $2::int8) AS free
  UNION ALL
  SELECT FROM waiting w WHERE w.route = $1::text AND w.is_blocked
  LIMIT $2::int8) AS counted
)sql";

// For a route: the $2 tenants with the most waiting jobs. Uses the index of claims, rank by rank;
// OFFSET keeps the planner from scanning the whole table instead.
constexpr std::string_view kCountTenants = R"sql(
SELECT tenant, count(*) FROM (
  SELECT free.tenant FROM generate_series(0, 255) AS r(rank) CROSS JOIN LATERAL (
    SELECT w.tenant FROM waiting w
    WHERE w.rank = r.rank::int2 AND w.route = $1::text AND NOT w.is_blocked OFFSET 0) AS free
  UNION ALL
  SELECT w.tenant FROM waiting w WHERE w.route = $1::text AND w.is_blocked) AS counted
GROUP BY tenant ORDER BY 2 DESC LIMIT $2::int8
)sql";

// Rows to decide on. A row whose line is locked by another transaction is left for the next time.
constexpr std::string_view kLineIsFree =
    "(ordered_by IS NULL OR "
    "pg_try_advisory_xact_lock(hashtextextended(route || ordered_by::text, 19)))";

constexpr std::string_view kOfWaiting =
    "SELECT number, state, due, attempts, recoveries, cause, now_ms(), id FROM waiting ";

constexpr std::string_view kOfLeased =
    "SELECT id, l.epoch, due, attempts, recoveries, cause, now_ms() FROM leased l ";

std::string pick_expired_text() {
  return std::string(kOfWaiting)
      .append("WHERE expires <= (SELECT now_ms()) AND ")
      .append(kLineIsFree)
      .append(" ORDER BY expires LIMIT $1::int8 FOR UPDATE SKIP LOCKED");
}

std::string pick_orphans_text() {
  return std::string(kOfLeased)
      .append("JOIN proxy p ON p.epoch = l.epoch WHERE p.is_over AND ")
      .append(kLineIsFree)
      .append(" LIMIT $1::int8 FOR UPDATE OF l SKIP LOCKED");
}

}  // namespace

std::vector<PostgresStatementText> postgres_lease_statements() {
  using enum PostgresStatement;
  return {
      {begin, "BEGIN"},
      {commit, "COMMIT"},
      {rollback, "ROLLBACK"},
      {join, std::string(kJoin)},
      {renew, std::string(kRenew)},
      {leave, std::string(kLeave)},
      {condemn, std::string(kCondemn)},
      {end_sessions, std::string(kEndSessions)},
      {see_leases, std::string(kSeeLeases)},
      {forget_proxies, std::string(kForgetProxies)},
      {end_waiting, std::string(kEndWaiting)},
      {pick_waiting, std::string(kOfWaiting)
                         .append("WHERE number = (SELECT number FROM job WHERE id = $1::uuid) "
                                 "FOR UPDATE")},
      {pick_expired, pick_expired_text()},
      {pick_held, std::string(kOfLeased).append("WHERE epoch = $1::int8 FOR UPDATE")},
      {pick_orphans, pick_orphans_text()},
      {forget, std::string(kForget)},
      {forget_keys, std::string(kForgetKeys)},
      {turn_periods, std::string(kTurnPeriods)},
      {keep_history, "SELECT keep_history($1::int8)"},
      {hold_history, std::string(kHoldHistory)},
      {lanes, std::string(kLanes)},
      {announce, std::string(kAnnounce)},
      {count_waiting, std::string(kCountWaiting)},
      {count_tenants, std::string(kCountTenants)},
  };
}

}  // namespace spillway::store
