// The life of a job: its new state after each event. Pure; the stores execute it.
//
//            claim            answered
//   queued ---------> leased -----------> succeeded
//     |  ^             |  |  |
//     |  '-- replay -. |  |  '-- permanent failure, attempts spent --> dead
//     |              | |  '-- may be tried again --> retrying --> claim ...
//     |              | '-- given back: as it was; interrupted: retrying or dead;
//     |              |     taken away: retrying
//     '-- cancel, time to live over --> cancelled, expired
//
// A claim itself counts nothing; an attempt counts once it has reached an upstream, a recovery when
// a proxy ended while it held the job.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/random.hpp"
#include "jobs/job.hpp"

namespace spillway::jobs {

// The configuration of the job's route (config::Defer).
struct Policy {
  std::uint32_t max_attempts = 10;
  std::chrono::milliseconds backoff_base{1000};
  std::chrono::milliseconds backoff_max{600000};
  bool retry_unanswered = false;
};

// How an attempt ended.
struct AttemptEnd {
  Cause cause = Cause::answered;  // answered to invalid_answer, or route_gone
  bool is_idempotent = false;     // by its method (RFC 9110 section 9.2.2)
  std::optional<std::chrono::milliseconds> retry_after;  // of a 429 or 503
};

inline constexpr std::uint32_t kMostRecoveries = 3;

// The cause for the status of a response: answered (1xx to 3xx), refused (429, 503), failed (other
// 5xx, 408, 425), rejected (other 4xx).
Cause cause_of(std::uint16_t status);

// After an attempt. The job ends, or waits for the next one: a pause with full jitter, uniform in
// [0, min(max, base * 2^(attempts - 1))], no shorter than Retry-After. never_sent: waits as long,
// but counts no attempt. If the next attempt were due only after `expires`, the job expires.
Progress after_attempt(const Progress& before, const AttemptEnd& end, const Policy& policy,
                       WallTime expires, WallTime now, Random& random);

// Its proxy cannot use it now (drain, an open circuit, no slot, a lease that is given back): it
// returns to its former state, and nothing is counted. It keeps its place among the waiting jobs:
// its due time is as before, or now, if the clock was set back since.
Progress given_back(const Progress& before, WallTime now);

// Its upstream may not be retried now, since too many of its requests fail: the job waits at least
// the base of a pause, plus a pause as after its last attempt. Nothing is counted.
Progress put_off(const Progress& before, const Policy& policy, WallTime now, Random& random);

// The delivery number sent to the upstream: 1 for the first, and larger than any before, including
// a delivery that may or may not have been made, since its proxy ended.
std::uint32_t next_delivery(const Progress& job);

// Its proxy ended. The job is dead as poison after `most` recoveries.
Progress recovered(const Progress& before, std::uint32_t most, WallTime now);
// For its history: an attempt whose outcome is unknown, since its proxy ended. `now`: when that was
// detected.
Attempt cut_off(WallTime now);

// Its proxy aborted the request before the answer came, to end or to release a former
// configuration: the outcome is unknown, and the upstream is not to blame. The attempt counts, but
// does not end the job as its last one, nor make it wait: a proxy that restarts often does not use
// up a job's attempts. A request that must not be sent again unanswered ends as in after_attempt().
Progress interrupted(const Progress& before, bool is_idempotent, const Policy& policy,
                     WallTime now);

// Its proxy has lost its lease but lives, so it has aborted the job's request before another proxy
// may send it again. As interrupted(), but sent again whatever its method, as after a proxy's end.
// No recovery is counted: the job ended no proxy, however often the store was unreachable.
Progress taken_away(const Progress& before, WallTime now);

// nullopt: too late, the job has begun or ended.
std::optional<Progress> cancelled(const Progress& before, Cause by, WallTime now);
// nullopt: the job is not waiting.
std::optional<Progress> expired(const Progress& before, WallTime now);
// For a request that was refused, and is kept for the operator: dead before any attempt.
Progress buried(WallTime accepted, Cause why, WallTime now);
// Dead and expired jobs start again; nullopt: it is neither.
std::optional<Progress> replayed(const Progress& before, WallTime due);

}  // namespace spillway::jobs
