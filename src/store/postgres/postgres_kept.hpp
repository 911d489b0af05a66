// Rows that outlast their period in the PostgreSQL store: a migration of postgres_schema.cpp.
#pragma once

#include <string_view>

namespace spillway::store {

// A single job that is kept for long would keep the history of all jobs of its period. So once at
// most a quarter of them is left, the rest is moved to period -1, whose rows are deleted one by
// one, and the period is dropped. Only ended jobs are moved: their rows can be locked, and no other
// statement has read which period they are in. A purge reads it as it locks them, so it excludes
// moves (advisory lock 21).
//
// $1: how many bytes to move at a time. Returns how many jobs were moved. The rows in the former
// period are dropped with it.
inline constexpr std::string_view kPostgresKept = R"sql(
CREATE TABLE kept_content PARTITION OF content FOR VALUES IN (-1);
CREATE TABLE kept_answer PARTITION OF answer FOR VALUES IN (-1);
CREATE TABLE kept_attempt PARTITION OF attempt FOR VALUES IN (-1);

CREATE FUNCTION keep_history(most bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  old record;
  few bigint;
  these bigint[];
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('spillway ' || current_schema(), 20)) OR
     NOT pg_try_advisory_xact_lock(hashtextextended('spillway ' || current_schema(), 21)) THEN
    RETURN 0;
  END IF;
  FOR old IN
    SELECT p.number AS period, p.first, n.first AS behind FROM period p JOIN period n
      ON n.number = (SELECT min(m.number) FROM period m WHERE m.number > p.number)
    WHERE n.began <= now_ms() - 60000
    ORDER BY p.number
  LOOP
    CONTINUE WHEN EXISTS (SELECT FROM waiting w WHERE w.number >= old.first
                            AND w.number < old.behind AND w.period = old.period)
      OR EXISTS (SELECT FROM leased l WHERE l.number >= old.first
                   AND l.number < old.behind AND l.period = old.period);
    few := least(10000, (old.behind - old.first) / 4);
    SELECT array_agg(e.number) INTO these FROM (
      SELECT number FROM ended WHERE number >= old.first AND number < old.behind
        AND period = old.period ORDER BY number LIMIT few + 1) AS e;
    CONTINUE WHEN coalesce(cardinality(these), 0) NOT BETWEEN 1 AND few;
    SELECT array_agg(e.number) INTO these FROM (
      SELECT number FROM ended WHERE number = ANY (these) AND forget > now_ms() + 3600000
      ORDER BY number LIMIT 500 FOR UPDATE SKIP LOCKED) AS e;
    CONTINUE WHEN these IS NULL;
    SELECT array_agg(s.number) INTO these FROM (
      SELECT j.number, sum(j.body_bytes + coalesce(
          (SELECT octet_length(a.body) FROM answer a
           WHERE a.period = old.period AND a.number = j.number), 0))
        OVER (ORDER BY j.number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
      FROM job j WHERE j.number = ANY (these)) AS s
    WHERE coalesce(s.before, 0) < most;
    INSERT INTO content (period, number, head, body)
      SELECT -1, c.number, c.head, c.body FROM content c
      WHERE c.period = old.period AND c.number = ANY (these);
    INSERT INTO answer (period, number, fields, body)
      SELECT -1, a.number, a.fields, a.body FROM answer a
      WHERE a.period = old.period AND a.number = ANY (these);
    INSERT INTO attempt (period, number, place, counted, began, ended, cause, status, detail)
      SELECT -1, a.number, a.place, a.counted, a.began, a.ended, a.cause, a.status, a.detail
      FROM attempt a WHERE a.period = old.period AND a.number = ANY (these);
    UPDATE ended SET period = -1 WHERE number = ANY (these);
    UPDATE job SET period = -1 WHERE number = ANY (these);
    RETURN cardinality(these);
  END LOOP;
  RETURN 0;
END $$;

CREATE OR REPLACE FUNCTION turn_periods(shortest bigint) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  newest period;
  oldest bigint;
  gone integer;
  history text;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('spillway ' || current_schema(), 20)) THEN
    RETURN 0;
  END IF;
  PERFORM set_config('lock_timeout', '100', true);
  SELECT * INTO newest FROM period ORDER BY number DESC LIMIT 1;
  SELECT began INTO oldest FROM period ORDER BY number LIMIT 1;
  IF now_ms() - newest.began >= greatest(shortest, (now_ms() - oldest) / 8) THEN
    FOREACH history IN ARRAY ARRAY['content', 'answer', 'attempt'] LOOP
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES IN (%s)',
                     history || '_' || newest.number + 1, history, newest.number + 1);
    END LOOP;
    INSERT INTO period VALUES (newest.number + 1, now_ms(), nextval('numbers'));
  END IF;
  SELECT p.number INTO gone FROM period p JOIN period n
    ON n.number = (SELECT min(m.number) FROM period m WHERE m.number > p.number)
  WHERE n.began <= now_ms() - 60000
    AND NOT EXISTS (SELECT FROM waiting w WHERE w.number >= p.first AND w.number < n.first
                      AND w.period = p.number)
    AND NOT EXISTS (SELECT FROM leased l WHERE l.number >= p.first AND l.number < n.first
                      AND l.period = p.number)
    AND NOT EXISTS (SELECT FROM ended e WHERE e.number >= p.first AND e.number < n.first
                      AND e.period = p.number)
  ORDER BY p.number LIMIT 1;
  IF gone IS NULL THEN
    RETURN 0;
  END IF;
  EXECUTE format('DROP TABLE %I, %I, %I', 'content_' || gone, 'answer_' || gone,
                 'attempt_' || gone);
  DELETE FROM period WHERE number = gone;
  RETURN 1;
END $$;
)sql";

}  // namespace spillway::store
