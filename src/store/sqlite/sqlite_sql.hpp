// The SQL of the SQLite store. A test checks the query plans of kHot: no scan of jobs, no sorting.
//
// States have the numbers of jobs::JobState: 0 queued, 1 leased, 2 retrying, 4 dead, 5 expired.
// Claimable jobs: sqlite_claimable.hpp.
#pragma once

#include <array>

namespace spillway::store::sql {

inline constexpr const char* kBegin = "BEGIN IMMEDIATE";
inline constexpr const char* kCommit = "COMMIT";

inline constexpr const char* kJoin = "INSERT INTO proxies (name, until) VALUES (?1, ?2)";
inline constexpr const char* kJoinAlone = "DELETE FROM proxies";
// One process has the file, so it is registered until the next Join. Setting its clock forward ends
// nothing.
inline constexpr const char* kRenew = "UPDATE proxies SET until = ?2 WHERE epoch = ?1";
inline constexpr const char* kLeave = "DELETE FROM proxies WHERE epoch = ?1";
inline constexpr const char* kIsRegistered = "SELECT 1 FROM proxies WHERE epoch = ?1";

// With as many rows as there are new jobs.
inline constexpr const char* kInsertJobs =
    "INSERT INTO jobs (seq, id, rank, route, tenant, tenant_name, state, due, attempts, recoveries,"
    " cause, ordered, blocked, accepted, expires, kept, key_window, method, target, body_bytes,"
    " status) VALUES ";
inline constexpr const char* kJobRow =
    "(?, ?, ?, ?, ?, ?, 0, ?, 0, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)";
inline constexpr const char* kUnlessThere = " ON CONFLICT (id) DO NOTHING";
inline constexpr const char* kInsertRequests = "INSERT INTO requests (seq, head, body) VALUES ";
inline constexpr const char* kRequestRow = "(?, ?, ?)";
inline constexpr const char* kHasOrdered =
    "SELECT 1 FROM jobs INDEXED BY jobs_ordered"
    " WHERE route = ?1 AND ordered = ?2 AND ended IS NULL AND seq <> ?3 LIMIT 1";

// Starts after the last possible job of the lane: a search for (rank, route, tenant) alone would
// start at its first job and read all of them.
inline constexpr const char* kNextLane =
    "SELECT rank, route, tenant, due, seq FROM claimable"
    " WHERE (rank, route, tenant, due) > (?1, ?2, ?3, 9223372036854775807)"
    " ORDER BY rank, route, tenant, due, seq LIMIT 1";
inline constexpr const char* kOfLane =
    "SELECT rank, route, tenant, due, seq FROM claimable"
    " WHERE rank = ?1 AND route = ?2 AND tenant = ?3 ORDER BY due, seq";
// A row that exists already must not fail the transaction with all its other rows.
inline constexpr const char* kInsertClaimable =
    "INSERT OR IGNORE INTO claimable (rank, route, tenant, due, seq) VALUES ";
inline constexpr const char* kClaimableRow = "(?, ?, ?, ?, ?)";
inline constexpr const char* kDeleteClaimable =
    "DELETE FROM claimable"
    " WHERE rank = ?1 AND route = ?2 AND tenant = ?3 AND due = ?4 AND seq = ?5";
inline constexpr const char* kWrittenUpTo = "UPDATE settings SET written_to = ?1";
// Reads all jobs after ?1.
inline constexpr const char* kRecentClaimable =
    "SELECT rank, route, tenant, due, seq FROM jobs WHERE seq > ?1 AND state IN (0, 2)"
    " AND blocked = 0 AND NOT EXISTS (SELECT 1 FROM claimable AS c WHERE c.rank = jobs.rank"
    " AND c.route = jobs.route AND c.tenant = jobs.tenant AND c.due = jobs.due"
    " AND c.seq = jobs.seq)";
// `jobs` determines which may be claimed, not a stale row of claimable.
inline constexpr const char* kClaimed =
    "SELECT jobs.seq, id, tenant_name, accepted, expires, due, attempts, recoveries, cause, method,"
    " target, state, head, body FROM jobs JOIN requests ON requests.seq = jobs.seq"
    " WHERE jobs.seq = ?1 AND state IN (0, 2) AND blocked = 0";
// Counts all waiting jobs: once, when a route has little room left.
inline constexpr const char* kCountTenants =
    "SELECT route, tenant, count(*) FROM jobs INDEXED BY jobs_expiring WHERE state IN (0, 2)"
    " GROUP BY route, tenant";
// The clock was set back by ?2, and now shows ?1. Updates all jobs.
inline constexpr const char* kTurnBack =
    "UPDATE jobs SET accepted = min(accepted, ?1),"
    " due = CASE WHEN state IN (0, 2) AND due > ?1 THEN due - ?2 ELSE due END"
    " WHERE accepted > ?1 OR (state IN (0, 2) AND due > ?1)";
inline constexpr const char* kTurnBackClaimable =
    "UPDATE claimable SET due = due - ?2 WHERE due > ?1";
inline constexpr const char* kNewest = "SELECT accepted FROM jobs ORDER BY seq DESC LIMIT 1";
inline constexpr const char* kLease = "UPDATE jobs SET state = 1, epoch = ?2 WHERE seq = ?1";

// Keys move from these tables into the table of their window (sqlite_keys.hpp).
inline constexpr std::array kInsertRecentKeys{
    "INSERT INTO recent_keys_0 (scope, fingerprint, id, window) VALUES ",
    "INSERT INTO recent_keys_1 (scope, fingerprint, id, window) VALUES "};
inline constexpr const char* kRecentKeyRow = "(?, ?, ?, ?)";
inline constexpr const char* kKeyRow = "(?, ?, ?)";  // in the table of a window
inline constexpr std::array kRecentKeys{"SELECT scope, fingerprint, id, window FROM recent_keys_0",
                                        "SELECT scope, fingerprint, id, window FROM recent_keys_1"};
inline constexpr std::array kClearRecentKeys{"DELETE FROM recent_keys_0",
                                             "DELETE FROM recent_keys_1"};

// The columns needed to change a job's state.
#define SPILLWAY_JOB_RECORD                                                                 \
  "SELECT seq, id, route, state, due, attempts, recoveries, cause, ended, epoch, ordered, " \
  "blocked,"                                                                                \
  " expires, kept, key_window, tenant, rank FROM jobs "
inline constexpr const char* kHasJob = "SELECT 1 FROM jobs WHERE id = ?1";
inline constexpr const char* kRecordById = SPILLWAY_JOB_RECORD "WHERE id = ?1";
inline constexpr const char* kRecordBySeq = SPILLWAY_JOB_RECORD "WHERE seq = ?1";
#undef SPILLWAY_JOB_RECORD
inline constexpr const char* kProgress =
    "UPDATE jobs SET state = ?2, due = ?3, attempts = ?4, recoveries = ?5, cause = ?6, ended = ?7,"
    " forget_at = ?8, expires = ?9, blocked = ?10, epoch = NULL WHERE seq = ?1";
inline constexpr const char* kFirstOrdered =
    "SELECT seq, blocked FROM jobs INDEXED BY jobs_ordered"
    " WHERE route = ?1 AND ordered = ?2 AND ended IS NULL ORDER BY seq LIMIT 1";
inline constexpr const char* kUnblock = "UPDATE jobs SET blocked = 0 WHERE seq = ?1";

inline constexpr const char* kInsertAttempt =
    "INSERT INTO attempts (seq, n, number, began, ended, cause, status, detail)"
    " VALUES (?1, (SELECT coalesce(max(n), 0) + 1 FROM attempts WHERE seq = ?1), ?2, ?3, ?4, ?5, "
    "?6,"
    " ?7)";
inline constexpr const char* kForgetOldAttempts =
    "DELETE FROM attempts WHERE seq = ?1"
    " AND n <= (SELECT max(n) FROM attempts WHERE seq = ?1) - ?2";
inline constexpr const char* kInsertAnswer =
    "INSERT OR REPLACE INTO answers (seq, status, is_cut, fields, body) VALUES (?1, ?2, ?3, ?4, "
    "?5)";
inline constexpr const char* kAnswerStatus = "UPDATE jobs SET status = ?2 WHERE seq = ?1";
inline constexpr const char* kAnswer =
    "SELECT state, answers.seq, answers.status, is_cut, fields, body FROM jobs"
    " LEFT JOIN answers ON answers.seq = jobs.seq WHERE id = ?1";

#define SPILLWAY_JOB_VIEW                                                                     \
  "SELECT jobs.seq, id, rank, route, tenant, tenant_name, method, target, accepted, expires," \
  " state, due, attempts, recoveries, cause, ended, body_bytes, status, forget_at FROM jobs "
inline constexpr const char* kViewById = SPILLWAY_JOB_VIEW "WHERE id = ?1";
inline constexpr const char* kViewsAfter = SPILLWAY_JOB_VIEW "WHERE seq > ?1 ORDER BY seq";
inline constexpr const char* kLetters =
    SPILLWAY_JOB_VIEW "INDEXED BY jobs_letters WHERE seq > ?1 AND state IN (4, 5) ORDER BY seq";
inline constexpr const char* kOldestLetter =
    "SELECT accepted FROM jobs INDEXED BY jobs_letters WHERE seq > 0 AND state IN (4, 5)"
    " ORDER BY seq LIMIT 1";
inline constexpr const char* kEnded = SPILLWAY_JOB_VIEW
    "INDEXED BY jobs_forgetting WHERE forget_at IS NOT NULL"
    " AND (forget_at, seq) > (?1, ?2) ORDER BY forget_at, seq";
#undef SPILLWAY_JOB_VIEW
inline constexpr const char* kPosition =
    "SELECT count(*) FROM (SELECT 1 FROM claimable WHERE rank = ?1 AND route = ?2"
    " AND tenant = ?3 AND (due, seq) < (?4, ?5) LIMIT ?6)";
inline constexpr const char* kRequest =
    "SELECT head, substr(body, 1, ?2) FROM requests WHERE seq = ?1";
inline constexpr const char* kAttempts =
    "SELECT number, began, ended, cause, status, detail FROM"
    " (SELECT * FROM attempts WHERE seq = ?1 ORDER BY n DESC LIMIT ?2) ORDER BY n";

inline constexpr const char* kExpiring =
    "SELECT seq FROM jobs INDEXED BY jobs_expiring"
    " WHERE state IN (0, 2) AND expires <= ?1 ORDER BY expires LIMIT ?2";
inline constexpr const char* kNextHolder =
    "SELECT epoch FROM jobs INDEXED BY jobs_leased"
    " WHERE state = 1 AND epoch > ?1 ORDER BY epoch LIMIT 1";
inline constexpr const char* kHeld =
    "SELECT seq FROM jobs INDEXED BY jobs_leased WHERE state = 1 AND epoch = ?1 LIMIT ?2";
inline constexpr const char* kForgettable =
    "SELECT seq FROM jobs INDEXED BY jobs_forgetting"
    " WHERE forget_at <= ?1 ORDER BY forget_at LIMIT ?2";
// Does not read the content itself, since length() does not need it.
inline constexpr const char* kContentBytes =
    "SELECT coalesce((SELECT length(head) + length(body) FROM requests WHERE seq = ?1), 0)"
    " + coalesce((SELECT length(fields) + length(body) FROM answers WHERE seq = ?1), 0)";
inline constexpr const char* kDeleteJob = "DELETE FROM jobs WHERE seq = ?1";
inline constexpr const char* kDeleteRequest = "DELETE FROM requests WHERE seq = ?1";
inline constexpr const char* kDeleteAnswer = "DELETE FROM answers WHERE seq = ?1";
inline constexpr const char* kDeleteAttempts = "DELETE FROM attempts WHERE seq = ?1";

// The statements of Enqueue, Lanes, Claim, Settle, Cancel, Find, ReadAnswer, Sweep and Totals.
inline constexpr std::array kHot{kHasOrdered,       kNextLane,      kOfLane,         kLease,

                                 kDeleteClaimable,  kWrittenUpTo,   kClaimed,        kHasJob,
                                 kRecordById,       kRecordBySeq,   kProgress,       kFirstOrdered,
                                 kUnblock,          kInsertAttempt, kInsertAnswer,   kAnswerStatus,
                                 kAnswer,           kViewById,      kPosition,       kExpiring,
                                 kNextHolder,       kHeld,          kForgettable,    kDeleteJob,
                                 kDeleteRequest,    kDeleteAnswer,  kDeleteAttempts, kLetters,
                                 kOldestLetter,     kEnded,         kIsRegistered,   kRenew,
                                 kForgetOldAttempts};

}  // namespace spillway::store::sql
