// The SQL for waiting jobs: Enqueue, Lanes, Claim, Settle, Replay.
#include "store/postgres/postgres_statements.hpp"

// Each (SELECT now_ms()) is evaluated once and may bound an index scan; now_ms() itself would be
// evaluated for each row.
namespace spillway::store {
namespace {

// A transaction that adds to a line, or ends a job in it, holds the line's lock until its end. The
// locks are taken first, in the same order everywhere, so that later statements see what the
// previous holder committed, and holders cannot deadlock. $1, $2: lines; $3: ids of leased jobs;
// $4: ids of other jobs.
constexpr std::string_view kLockLines = R"sql(
SELECT count(pg_advisory_xact_lock(key)) FROM (
  SELECT DISTINCT hashtextextended(route || ordered_by::text, 19) AS key FROM (
    SELECT * FROM unnest($1::text[], $2::uuid[]) AS i(route, ordered_by)
    UNION ALL
    SELECT l.route, l.ordered_by FROM unnest($3::uuid[]) AS i(id) JOIN leased l ON l.id = i.id
    WHERE l.ordered_by IS NOT NULL
    UNION ALL
    SELECT j.route, j.ordered_by FROM unnest($4::uuid[]) AS i(id) JOIN job j ON j.id = i.id
    WHERE j.ordered_by IS NOT NULL) AS lines
  ORDER BY key) AS keys
)sql";

// The index is walked in the order of the keys, whatever the order of the array.
constexpr std::string_view kLetGoKeys =
    "DELETE FROM key_in_hand WHERE scope = ANY ($1::uuid[]) AND epoch = $2::int8";

// Returns the keys that the asker now holds. Locks in the same order as kLetGoKeys. It may already
// hold some, from a statement whose outcome it does not know.
constexpr std::string_view kTakeKeys = R"sql(
INSERT INTO key_in_hand AS k (scope, epoch)
SELECT i.scope, $2::int8 FROM (SELECT DISTINCT scope FROM unnest($1::uuid[]) AS u(scope)) AS i
ORDER BY i.scope
ON CONFLICT (scope) DO UPDATE SET epoch = excluded.epoch
  WHERE NOT EXISTS (SELECT FROM proxy p
                    WHERE p.epoch = k.epoch AND NOT p.is_over AND p.epoch <> excluded.epoch)
RETURNING scope
)sql";

// In table order; skips keys that are being taken, so it never waits.
constexpr std::string_view kClearKeys = R"sql(
DELETE FROM key_in_hand WHERE scope IN (
  SELECT k.scope FROM key_in_hand k
  WHERE NOT EXISTS (SELECT FROM proxy p WHERE p.epoch = k.epoch) FOR UPDATE SKIP LOCKED)
)sql";

// $1 to $16: the columns of the batch. A key or an id that exists already: quickly, it is looked up
// as of the statement's start, and a unique violation means that it was added since; carefully, the
// insertion itself detects it, which costs a lock for each row.
constexpr std::string_view kStored = R"sql(
WITH fresh AS MATERIALIZED (
  SELECT nextval('numbers') AS number, (SELECT max(p.number) FROM period p) AS period, i.*
  FROM unnest($1::uuid[], $2::int2[], $3::text[], $4::int8[], $5::bytea[], $6::int8[],
                       $7::int8[], $8::int8[], $9::bytea[], $10::bytea[], $11::bytea[],
                       $12::bytea[], $13::uuid[], $14::uuid[], $15::uuid[])
    AS i(id, rank, route, tenant, tenant_name, accepted, expires, kept, head, body, method, target,
         ordered_by, scope, fingerprint)
  WHERE (scope IS NULL OR NOT EXISTS (
    SELECT FROM key_in_hand k JOIN proxy p ON p.epoch = k.epoch
    WHERE k.scope = i.scope AND k.epoch <> $16::int8 AND NOT p.is_over OFFSET 0))
)sql";
constexpr std::string_view kQuickly = R"sql(
  AND (scope IS NULL OR NOT EXISTS (SELECT FROM job j WHERE j.scope = i.scope))
)sql";
constexpr std::string_view kCarefully = R"sql(
  ON CONFLICT DO NOTHING
)sql";
// Contents that no job refers to because of a conflict are dropped with their period.
constexpr std::string_view kInto = R"sql(
), contents AS (
  INSERT INTO content (period, number, head, body) SELECT period, number, head, body FROM fresh),
stored AS (
  INSERT INTO job (number, period, id, rank, route, tenant, tenant_name, accepted, expires, kept,
                   body_bytes, method, target, ordered_by, scope, fingerprint)
  SELECT number, period, id, rank, route, tenant, tenant_name, accepted, expires, kept,
         octet_length(body), method, target, ordered_by, scope, fingerprint FROM fresh
)sql";
constexpr std::string_view kAsStored = R"sql(
  RETURNING number, period, id, rank, route, tenant, accepted, expires, kept, ordered_by)
)sql";

// A proxy's clock may be ahead: its jobs are due immediately all the same.
constexpr std::string_view kEnqueue = R"sql(
INSERT INTO waiting (number, id, rank, route, tenant, due, expires, kept, state, attempts,
                     recoveries, cause, is_blocked, period)
SELECT number, id, rank, route, tenant, LEAST(accepted, (SELECT now_ms())), expires, kept,
       0, 0, 0, 0, false, period FROM stored
)sql";

constexpr std::string_view kEnqueueOrdered = R"sql(
, lined AS (INSERT INTO line (number, ordered_by, route)
            SELECT number, ordered_by, route FROM stored)
INSERT INTO waiting (number, id, rank, route, tenant, due, expires, kept, state, attempts,
                     recoveries, cause, ordered_by, is_blocked, period)
SELECT number, id, rank, route, tenant, LEAST(accepted, (SELECT now_ms())), expires, kept,
       0, 0, 0, 0, ordered_by,
       row_number() OVER (PARTITION BY ordered_by, route ORDER BY number) > 1 OR
         EXISTS (SELECT FROM line l WHERE l.ordered_by = s.ordered_by AND l.route = s.route
                 AND NOT l.is_over), period
FROM stored s
)sql";

// $17: the causes.
constexpr std::string_view kBury = R"sql(
INSERT INTO ended (number, due, expires, ended, forget, attempts, recoveries, state, cause, route,
                   period)
SELECT s.number, s.accepted, s.expires, t.at, t.at + s.kept, 0, 0, 4, i.cause, s.route, s.period
FROM stored s JOIN unnest($1::uuid[], $17::int2[]) AS i(id, cause) ON i.id = s.id
  CROSS JOIN (SELECT now_ms() AS at) AS t
)sql";

// A row without id: another proxy than $3 holds the key.
constexpr std::string_view kLookUpScopes = R"sql(
SELECT j.scope, j.id, j.fingerprint FROM unnest($1::uuid[]) AS i(scope)
JOIN job j ON j.scope = i.scope
UNION ALL
SELECT j.scope, j.id, j.fingerprint FROM unnest($2::uuid[]) AS i(id) JOIN job j ON j.id = i.id
UNION ALL
SELECT i.scope, NULL, NULL FROM unnest($1::uuid[]) AS i(scope)
WHERE EXISTS (SELECT FROM key_in_hand k JOIN proxy p ON p.epoch = k.epoch
              WHERE k.scope = i.scope AND k.epoch <> $3::int8 AND NOT p.is_over OFFSET 0)
)sql";

constexpr std::string_view kLookUpLine = R"sql(
SELECT EXISTS (SELECT FROM line l WHERE l.ordered_by = $1::uuid AND l.route = $2::text
               AND NOT l.is_over)
)sql";

// $2 to $7: for each lane its name, a low watermark of due (so that the rows claimed
// before, which a long transaction keeps from being vacuumed, are not read again), how many
// jobs to claim, and the most recoveries that they may have. $8: each lane's part of
// kStepBytes; body sizes are summed in the order of the rows, without another sort. No lane
// twice: a second scan skips rows found by the first only if they were deleted before it
// began.
//
// To report jobs skipped for their recoveries, another scan is needed, no further than the first
// one has read: a row without id gives, for a lane with such jobs, their fewest recoveries, and
// when the first of them is due.
constexpr std::string_view kPick = R"sql(
WITH me AS (SELECT epoch FROM proxy WHERE epoch = $1::int8 AND NOT is_over
              AND lease_end > (SELECT now_ms()) FOR SHARE),
picked AS (
  SELECT * FROM unnest($2::int2[], $3::text[], $4::int8[], $5::int8[], $6::int8[], $7::int4[])
    WITH ORDINALITY AS i(rank, route, tenant, due, most, recoveries, place)
  CROSS JOIN LATERAL (
    SELECT array_agg(number) FILTER (WHERE fits) AS numbers, count(*) AS jobs,
      max(sized.due) FILTER (WHERE fits) AS last, bool_or(NOT fits) AS is_cut FROM (
      SELECT first.number, first.due,
        coalesce(sum((SELECT j.body_bytes FROM job j WHERE j.number = first.number)::float8)
                   OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) < $8::int8 AS fits
      FROM (
        SELECT w.number, w.due FROM waiting w
        WHERE w.rank = i.rank AND w.route = i.route AND w.tenant = i.tenant AND NOT w.is_blocked
          AND w.due >= i.due AND w.due <= (SELECT now_ms()) AND w.expires > (SELECT now_ms())
          AND w.recoveries <= i.recoveries AND EXISTS (SELECT FROM me)
        ORDER BY w.due, w.number LIMIT i.most FOR UPDATE SKIP LOCKED) AS first) AS sized) AS p
)sql";
constexpr std::string_view kLookForLeft = R"sql(
  CROSS JOIN LATERAL (
    SELECT min(w.recoveries) AS least, min(w.due) AS first_left FROM waiting w
    WHERE w.rank = i.rank AND w.route = i.route AND w.tenant = i.tenant AND NOT w.is_blocked
      AND w.due >= i.due
      AND w.due <= CASE WHEN p.jobs >= i.most OR p.is_cut THEN p.last ELSE (SELECT now_ms()) END
      AND w.expires > (SELECT now_ms()) AND w.recoveries > i.recoveries
      AND EXISTS (SELECT FROM me)) AS l
)sql";
constexpr std::string_view kTake = R"sql(
), taken AS (
  DELETE FROM waiting w USING picked p WHERE w.number = ANY (p.numbers)
  RETURNING w.*, p.place, p.is_cut),
held AS (
  INSERT INTO leased (id, number, epoch, due, expires, kept, tenant, attempts, recoveries, rank,
                      cause, route, ordered_by, period)
  SELECT id, number, $1::int8, due, expires, kept, tenant, attempts, recoveries, rank, cause,
         route, ordered_by, period FROM taken)
SELECT t.place, t.id, t.due, t.expires, t.attempts, t.recoveries, t.cause, j.accepted,
       j.tenant_name, j.method, j.target, c.head, c.body, t.number, t.is_cut
FROM taken t JOIN job j ON j.number = t.number
  JOIN content c ON c.period = t.period AND c.number = t.number
)sql";
constexpr std::string_view kTellOfLeft = R"sql(
UNION ALL
SELECT place, NULL, first_left, NULL, NULL, least, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       is_cut
FROM picked WHERE least IS NOT NULL
)sql";
constexpr std::string_view kAsDue = R"sql(
ORDER BY place, due, number
)sql";

// A leased job is the first of its line, and stays first while it waits for its next attempt.
//
// $3 to $8: the progress. $9 to $12: the answer, with a null status for none. $13 to $18: the
// attempt, with a null number for none.
constexpr std::string_view kSettle = R"sql(
WITH gone AS (
  DELETE FROM leased l USING unnest($1::uuid[], $2::int8[], $3::int2[], $4::int8[], $5::int4[],
      $6::int4[], $7::int2[], $8::int8[], $9::int2[], $10::bytea[], $11::bytea[],
      $12::bool[], $13::int4[], $14::int8[], $15::int8[], $16::int2[], $17::int2[], $18::bytea[])
    AS i(id, epoch, state, due, attempts, recoveries, cause, ended, status, fields, body,
         is_cut, counted, attempt_began, attempt_ended, attempt_cause, attempt_status, detail)
  WHERE l.id = i.id AND l.epoch = i.epoch
  RETURNING l.number, l.id, l.rank, l.route, l.tenant, l.expires, l.kept, l.ordered_by, l.period,
    i.state, i.due, i.attempts, i.recoveries, i.cause, i.ended, i.status, i.fields, i.body, i.is_cut,
    i.counted, i.attempt_began, i.attempt_ended, i.attempt_cause, i.attempt_status, i.detail),
over_now AS (
  UPDATE line n SET is_over = true FROM gone g
  WHERE g.state > 2 AND n.ordered_by = g.ordered_by AND n.route = g.route AND n.number = g.number),
tried AS (
  INSERT INTO attempt (period, number, counted, began, ended, cause, status, detail)
  SELECT period, number, counted, attempt_began, attempt_ended, attempt_cause, attempt_status, detail
  FROM gone WHERE counted IS NOT NULL),
trimmed AS (
  DELETE FROM attempt a USING gone g
  WHERE g.state <= 2 AND g.counted IS NOT NULL AND a.period = g.period
    AND a.number = g.number
    AND a.place <= (SELECT b.place FROM attempt b WHERE b.period = g.period AND b.number = g.number
                    ORDER BY b.place DESC OFFSET 999 LIMIT 1)),
answered AS (
  INSERT INTO answer (period, number, fields, body)
  SELECT period, number, fields, body FROM gone WHERE state > 2 AND status IS NOT NULL),
back AS (
  INSERT INTO waiting (number, id, rank, route, tenant, due, expires, kept, state, attempts,
                       recoveries, cause, ordered_by, is_blocked, period)
  SELECT number, id, rank, route, tenant, due, expires, kept, state, attempts, recoveries, cause,
         ordered_by, false, period
  FROM gone g WHERE state <= 2),
ended_now AS (
  INSERT INTO ended (number, due, expires, ended, forget, attempts, recoveries, state, cause,
                     status, is_cut, route, period)
  SELECT number, due, expires, ended, ended + kept, attempts, recoveries, state, cause, status,
         is_cut, route, period FROM gone WHERE state > 2)
SELECT id, route, tenant FROM gone
)sql";

// In each line in which this transaction has ended a job, makes the next job claimable. Other
// transactions' is_over rows cannot be seen here: they delete them before they commit.
constexpr std::string_view kAdvanceLines = R"sql(
WITH left_line AS (DELETE FROM line WHERE is_over RETURNING ordered_by, route),
first AS (
  SELECT (SELECT n.number FROM line n WHERE n.ordered_by = t.ordered_by AND n.route = t.route
            AND NOT n.is_over ORDER BY n.number LIMIT 1) AS number
  FROM (SELECT DISTINCT ordered_by, route FROM left_line) AS t)
UPDATE waiting w SET is_blocked = false FROM first f WHERE w.number = f.number AND w.is_blocked
RETURNING w.due
)sql";

std::string quick_text(std::string_view where) {
  return std::string(kStored).append(kQuickly).append(kInto).append(kAsStored).append(where);
}
std::string careful_text(std::string_view where) {
  return std::string(kStored).append(kInto).append(kCarefully).append(kAsStored).append(where);
}

}  // namespace

std::vector<PostgresStatementText> postgres_queue_statements() {
  using enum PostgresStatement;
  return {
      {lock_lines, std::string(kLockLines)},
      {enqueue, quick_text(kEnqueue)},
      {enqueue_ordered, quick_text(kEnqueueOrdered)},
      {careful_enqueue, careful_text(kEnqueue)},
      {careful_enqueue_ordered, careful_text(kEnqueueOrdered)},
      {bury, careful_text(kBury)},
      {let_go_keys, std::string(kLetGoKeys)},
      {take_keys, std::string(kTakeKeys)},
      {clear_keys, std::string(kClearKeys)},
      {look_up_scopes, std::string(kLookUpScopes)},
      {look_up_line, std::string(kLookUpLine)},
      {claim, std::string(kPick).append(kTake).append(kAsDue)},
      {claim_and_tell,
       std::string(kPick).append(kLookForLeft).append(kTake).append(kTellOfLeft).append(kAsDue)},
      {settle, std::string(kSettle)},
      {advance_lines, std::string(kAdvanceLines)},
  };
}

}  // namespace spillway::store
