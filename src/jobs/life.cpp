#include "jobs/life.hpp"

#include <algorithm>

namespace spillway::jobs {
namespace {

using std::chrono::milliseconds;

milliseconds longest_pause(std::uint32_t attempts, const Policy& policy) {
  milliseconds pause = std::max(policy.backoff_base, milliseconds{0});
  for (std::uint32_t i = 1; i < attempts && pause.count() > 0; ++i) {
    if (pause > policy.backoff_max / 2) return policy.backoff_max;
    pause *= 2;
  }
  return std::min(pause, policy.backoff_max);
}

milliseconds jittered(milliseconds longest, Random& random) {
  const double pause = random.uniform() * (static_cast<double>(longest.count()) + 1.0);
  return std::clamp(milliseconds{static_cast<std::int64_t>(pause)}, milliseconds{0},
                    std::max(longest, milliseconds{0}));
}

// Whether a request that was sent may be sent again.
bool may_repeat(bool is_idempotent, const Policy& policy) {
  return is_idempotent || policy.retry_unanswered;
}

Progress ended_as(Progress job, JobState state, Cause cause, WallTime now) {
  job.state = state;
  job.cause = cause;
  job.ended = now;
  return job;
}

}  // namespace

std::string_view name(Cause cause) {
  constexpr std::array<std::string_view, kCauseCount> names{"",
                                                            "answered",
                                                            "refused",
                                                            "failed",
                                                            "rejected",
                                                            "never_sent",
                                                            "unanswered",
                                                            "invalid_answer",
                                                            "proxy_ended",
                                                            "too_many_attempts",
                                                            "poison",
                                                            "not_idempotent",
                                                            "route_gone",
                                                            "cancelled_by_client",
                                                            "cancelled_by_operator",
                                                            "out_of_time",
                                                            "expired_in_queue"};
  return index(cause) < names.size() ? names[index(cause)] : std::string_view{};
}

Cause cause_of(std::uint16_t status) {
  if (status < 100 || status > 599) return Cause::invalid_answer;
  if (status < 400) return Cause::answered;
  if (status == 429 || status == 503) return Cause::refused;
  if (status >= 500 || status == 408 || status == 425) return Cause::failed;
  return Cause::rejected;
}

// An upstream that has answered with a failure is asked again whatever the method: it has said that
// the request was not done, and delivery is at least once. Without an answer that is unknown;
// likewise after one that is incomplete or not HTTP, which may have begun with 200: so only an
// idempotent request, or one of a route that allows it, is sent again.
Progress after_attempt(const Progress& before, const AttemptEnd& end, const Policy& policy,
                       WallTime expires, WallTime now, Random& random) {
  Progress job = before;
  if (end.cause == Cause::route_gone) return ended_as(job, JobState::dead, end.cause, now);
  if (end.cause != Cause::never_sent) {
    ++job.attempts;
    if (end.cause == Cause::answered) return ended_as(job, JobState::succeeded, end.cause, now);
    if (end.cause == Cause::rejected) return ended_as(job, JobState::dead, end.cause, now);
    const bool is_unknown = end.cause == Cause::unanswered || end.cause == Cause::invalid_answer;
    if (is_unknown && !may_repeat(end.is_idempotent, policy))
      return ended_as(job, JobState::dead, Cause::not_idempotent, now);
    if (job.attempts >= policy.max_attempts) {
      return ended_as(job, JobState::dead, Cause::too_many_attempts, now);
    }
  }
  milliseconds pause = jittered(longest_pause(job.attempts, policy), random);
  if (end.cause == Cause::refused && end.retry_after) pause = std::max(pause, *end.retry_after);
  if (pause >= expires - now) return ended_as(job, JobState::expired, Cause::out_of_time, now);
  job.state = JobState::retrying;
  job.cause = end.cause;
  job.due = now + pause;
  job.ended = kNoTime;
  return job;
}

Progress given_back(const Progress& before, WallTime now) {
  Progress job = before;
  job.state = before.cause == Cause::none ? JobState::queued : JobState::retrying;
  job.due = std::min(before.due, now);
  job.ended = kNoTime;
  return job;
}

Progress put_off(const Progress& before, const Policy& policy, WallTime now, Random& random) {
  const milliseconds pause = jittered(longest_pause(before.attempts, policy), random);
  Progress job = given_back(before, now);
  job.due = now + policy.backoff_base + pause;
  return job;
}

std::uint32_t next_delivery(const Progress& job) { return job.attempts + job.recoveries + 1; }

Progress recovered(const Progress& before, std::uint32_t most, WallTime now) {
  Progress job = before;
  if (job.recoveries >= most) return ended_as(job, JobState::dead, Cause::poison, now);
  ++job.recoveries;
  job.state = JobState::retrying;
  job.cause = Cause::proxy_ended;
  job.due = now;
  job.ended = kNoTime;
  return job;
}

Attempt cut_off(WallTime now) {
  return {.number = 0,
          .began = now,
          .ended = now,
          .cause = Cause::proxy_ended,
          .status = 0,
          .detail = "Its proxy ended with it in hand: it may have been sent."};
}

Progress interrupted(const Progress& before, bool is_idempotent, const Policy& policy,
                     WallTime now) {
  if (may_repeat(is_idempotent, policy)) return taken_away(before, now);
  Progress job = before;
  ++job.attempts;
  return ended_as(job, JobState::dead, Cause::not_idempotent, now);
}

Progress taken_away(const Progress& before, WallTime now) {
  Progress job = before;
  ++job.attempts;
  job.cause = Cause::proxy_ended;
  return given_back(job, now);
}

std::optional<Progress> cancelled(const Progress& before, Cause by, WallTime now) {
  if (!waits(before.state)) return std::nullopt;
  return ended_as(before, JobState::cancelled, by, now);
}

std::optional<Progress> expired(const Progress& before, WallTime now) {
  if (!waits(before.state)) return std::nullopt;
  return ended_as(before, JobState::expired, Cause::out_of_time, now);
}

Progress buried(WallTime accepted, Cause why, WallTime now) {
  Progress job;
  job.due = accepted;
  return ended_as(job, JobState::dead, why, now);
}

std::optional<Progress> replayed(const Progress& before, WallTime due) {
  if (before.state != JobState::dead && before.state != JobState::expired) return std::nullopt;
  Progress job;
  job.due = due;
  return job;
}

}  // namespace spillway::jobs
