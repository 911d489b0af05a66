// The life of a job: what each event makes of it. Pure; the stores execute it.
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
// Only a claim counts nothing; an attempt counts when it has reached an upstream, a recovery when a
// proxy ended with the job in hand.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/random.hpp"
#include "jobs/job.hpp"

namespace spillway::jobs {

// What is configured for the job's route (config::Defer).
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

// The cause that an answer's status stands for: answered (1xx to 3xx), refused (429, 503), failed
// (other 5xx, 408, 425), rejected (other 4xx).
Cause cause_of(std::uint16_t status);

// After an attempt. It ends, or waits for the next one: a pause with full jitter, uniform in
// [0, min(max, base * 2^(attempts - 1))], no shorter than Retry-After. Never sent: waits as long,
// and no attempt is counted. If the next attempt were due when `expires` is over, it expires.
Progress after_attempt(const Progress& before, const AttemptEnd& end, const Policy& policy,
                       WallTime expires, WallTime now, Random& random);

// Its proxy has no use for it now (drain, an open circuit, no slot, a lease that is given back): it
// is as it was, and nothing is counted. It keeps its place among those that wait: it is due when it
// was, or now, if the clock was set back since.
Progress given_back(const Progress& before, WallTime now);

// Its upstream may not be asked again now, since too much of what it is asked fails: it waits at
// least the base of a pause, and a pause as after its last attempt besides. Nothing is counted.
Progress put_off(const Progress& before, const Policy& policy, WallTime now, Random& random);

// The number that its next delivery tells the upstream: 1 for the first, and larger than that of
// any one before, also of one of which nobody knows whether it was made, since its proxy ended.
std::uint32_t next_delivery(const Progress& job);

// Its proxy ended. Dead as poison after `most` recoveries.
Progress recovered(const Progress& before, std::uint32_t most, WallTime now);
// For its history: an attempt whose outcome is unknown, since its proxy ended. `now`: when that was
// found.
Attempt cut_off(WallTime now);

// Its proxy closed its request before the answer came, to end or to free itself of a former
// configuration: nobody knows what became of it, and the upstream is not to blame. The attempt
// counts, but does not end the job as its last one, nor makes it wait: a proxy that is restarted
// often uses up nobody's attempts. What must not be sent again unanswered ends as after_attempt().
Progress interrupted(const Progress& before, bool is_idempotent, const Policy& policy,
                     WallTime now);

// Its proxy has lost its lease and lives, so it has closed the job's request before another proxy
// may send it again. As interrupted(), but sent again whatever its method, as after the end of a
// proxy. No recovery is counted: the job has ended no proxy, however often the store was away.
Progress taken_away(const Progress& before, WallTime now);

// nullopt: too late, it has begun or ended.
std::optional<Progress> cancelled(const Progress& before, Cause by, WallTime now);
// nullopt: it does not wait.
std::optional<Progress> expired(const Progress& before, WallTime now);
// Of a request that was refused, and is kept for the operator: dead before any attempt.
Progress buried(WallTime accepted, Cause why, WallTime now);
// Dead and expired jobs begin anew; nullopt: it is neither.
std::optional<Progress> replayed(const Progress& before, WallTime due);

}  // namespace spillway::jobs
