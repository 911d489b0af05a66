#include "jobs/life.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "unit/jobs/lives.hpp"

using namespace spillway;
using namespace spillway::jobs;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

AttemptEnd refused_for(milliseconds retry_after) {
  AttemptEnd end;
  end.cause = Cause::refused;
  end.retry_after = retry_after;
  return end;
}

AttemptEnd ended_by(Cause cause, bool is_idempotent = false) {
  AttemptEnd end;
  end.cause = cause;
  end.is_idempotent = is_idempotent;
  return end;
}

// The pauses that many jobs make after the same attempt.
std::vector<milliseconds> pauses(const Progress& before, const AttemptEnd& end,
                                 const Policy& policy) {
  std::vector<milliseconds> all;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    all.push_back(after(before, end, policy, seed).due - kNow);
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEST_CASE("a status stands for a cause") {
  for (const int status : {100, 200, 201, 204, 301, 304, 399}) {
    CHECK(cause_of(static_cast<std::uint16_t>(status)) == Cause::answered);
  }
  for (const int status : {429, 503}) {
    CHECK(cause_of(static_cast<std::uint16_t>(status)) == Cause::refused);
  }
  for (const int status : {408, 425, 500, 501, 502, 504, 599}) {
    CHECK(cause_of(static_cast<std::uint16_t>(status)) == Cause::failed);
  }
  for (const int status : {400, 401, 404, 409, 410, 422, 499}) {
    CHECK(cause_of(static_cast<std::uint16_t>(status)) == Cause::rejected);
  }
  for (const int status : {0, 99, 600, 65535}) {
    CHECK(cause_of(static_cast<std::uint16_t>(status)) == Cause::invalid_answer);
  }
}

TEST_CASE("a job that is answered has succeeded, and the attempt counts") {
  const Progress job = after(leased(2), ended_by(Cause::answered));
  CHECK(job.state == JobState::succeeded);
  CHECK(job.cause == Cause::answered);
  CHECK(job.attempts == 3);
  CHECK(job.ended == kNow);
}

TEST_CASE("a job that is answered by its last attempt has succeeded") {
  const Progress job = after(leased(9), ended_by(Cause::answered));
  CHECK(job.state == JobState::succeeded);
  // negative control: the same attempt, with a failure
  CHECK(after(leased(9), ended_by(Cause::failed)).state == JobState::dead);
}

TEST_CASE("a retry that is put off waits as long as after its last attempt, and uses up none") {
  const Policy policy{.backoff_base = seconds(2), .backoff_max = seconds(10)};
  std::vector<milliseconds> pauses;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const Progress job = put_off(leased(3), policy, kNow, random);
    CHECK(job.state == JobState::retrying);
    CHECK(job.attempts == 3);
    CHECK(job.cause == Cause::failed);
    CHECK(job.ended == kNoTime);
    pauses.push_back(job.due - kNow);
  }
  std::sort(pauses.begin(), pauses.end());
  // The base, and 2 s * 2^2 besides at most.
  CHECK(pauses.front() >= seconds(2));
  CHECK(pauses.front() < milliseconds(2100));
  CHECK(pauses.back() <= seconds(10));
  CHECK(pauses.back() > milliseconds(9900));
}

TEST_CASE("a job that never reached an upstream is tried again, whatever its method, uncounted") {
  Progress job = leased(0);
  for (int i = 0; i < 100; ++i) job = after(job, ended_by(Cause::never_sent));
  CHECK(job.state == JobState::retrying);
  CHECK(job.cause == Cause::never_sent);
  CHECK(job.attempts == 0);
  CHECK(job.ended == kNoTime);
  // negative control: sent as often, it is dead long since
  CHECK(after(leased(99), ended_by(Cause::failed)).state == JobState::dead);
}

TEST_CASE("a job whose upstream answered with a failure is tried again, whatever its method") {
  for (const Cause cause : {Cause::refused, Cause::failed}) {
    for (const bool is_idempotent : {false, true}) {
      const Progress job = after(leased(0), ended_by(cause, is_idempotent));
      CAPTURE(name(cause));
      CHECK(job.state == JobState::retrying);
      CHECK(job.cause == cause);
      CHECK(job.attempts == 1);
      CHECK(job.due >= kNow);
    }
  }
}

TEST_CASE("a job that was sent and not answered is sent again only if that is safe or configured") {
  CHECK(after(leased(), ended_by(Cause::unanswered, true)).state == JobState::retrying);
  Policy policy;
  policy.retry_unanswered = true;
  CHECK(after(leased(), ended_by(Cause::unanswered), policy).state == JobState::retrying);

  const Progress job = after(leased(), ended_by(Cause::unanswered));
  CHECK(job.state == JobState::dead);
  CHECK(job.cause == Cause::not_idempotent);
  CHECK(job.attempts == 1);
  CHECK(job.ended == kNow);
}

TEST_CASE("a job that is rejected is dead at once") {
  const Progress job = after(leased(0), ended_by(Cause::rejected, true));
  CHECK(job.state == JobState::dead);
  CHECK(job.cause == Cause::rejected);
  CHECK(job.attempts == 1);
  CHECK(job.ended == kNow);
}

TEST_CASE("a job whose route is gone is dead, and nothing was tried") {
  const Progress job = after(leased(3), ended_by(Cause::route_gone));
  CHECK(job.state == JobState::dead);
  CHECK(job.cause == Cause::route_gone);
  CHECK(job.attempts == 3);
  CHECK(job.ended == kNow);
}

TEST_CASE("a job whose attempts are spent is dead, and not before") {
  Policy policy;
  policy.max_attempts = 3;
  Progress job = leased(0);
  for (int attempt = 1; attempt <= 2; ++attempt) {
    job = after(job, ended_by(Cause::failed), policy);
    CHECK(job.state == JobState::retrying);
  }
  job = after(job, ended_by(Cause::failed), policy);
  CHECK(job.state == JobState::dead);
  CHECK(job.cause == Cause::too_many_attempts);
  CHECK(job.attempts == 3);
  CHECK(job.ended == kNow);
}

TEST_CASE(
    "the cause of a last attempt that must not be repeated is said, not that it was the last") {
  CHECK(after(leased(9), ended_by(Cause::unanswered)).cause == Cause::not_idempotent);
  CHECK(after(leased(9), ended_by(Cause::rejected)).cause == Cause::rejected);
}

TEST_CASE("the longest pause doubles with each attempt up to its maximum, exactly") {
  Policy policy;
  policy.backoff_base = milliseconds(100);
  policy.backoff_max = milliseconds(1000);
  policy.max_attempts = 1'000'000'000;
  const std::vector<std::pair<std::uint32_t, int>> table{
      {0, 100}, {1, 200}, {2, 400}, {3, 800}, {4, 1000}, {5, 1000}, {63, 1000}, {999'999, 1000}};
  for (const auto& [attempts, longest] : table) {
    const auto all = pauses(leased(attempts), ended_by(Cause::failed), policy);
    CHECK(all.front() >= milliseconds(0));
    CHECK(all.back() <= milliseconds(longest));
    CHECK(all.back() >= milliseconds(longest * 95 / 100));
  }
}

TEST_CASE("a maximum that is no power of two of the base is not reached too early") {
  Policy policy;
  policy.backoff_base = milliseconds(1000);
  policy.backoff_max = milliseconds(5001);
  const auto all = pauses(leased(2), ended_by(Cause::failed), policy);
  CHECK(all.back() <= milliseconds(4000));
  CHECK(pauses(leased(3), ended_by(Cause::failed), policy).back() > milliseconds(4000));
}

TEST_CASE("pauses are spread over the whole interval, so that jobs do not come back together") {
  Policy policy;
  policy.backoff_base = milliseconds(10'000);
  const auto all = pauses(leased(0), ended_by(Cause::failed), policy);
  const auto below = [&](int limit) {
    return std::lower_bound(all.begin(), all.end(), milliseconds(limit)) - all.begin();
  };
  for (int tenth = 1; tenth < 10; ++tenth) {
    CAPTURE(tenth);
    CHECK(below(1000 * tenth) == doctest::Approx(200.0 * tenth).epsilon(0.25));
  }
  // negative control: one seed is one pause
  CHECK(after(leased(0), ended_by(Cause::failed), policy, 7).due ==
        after(leased(0), ended_by(Cause::failed), policy, 7).due);
}

TEST_CASE("extreme settings of the pause neither overflow nor go back in time") {
  Policy policy;
  policy.backoff_base = milliseconds::max();
  policy.backoff_max = milliseconds(5000);
  CHECK(pauses(leased(0), ended_by(Cause::failed), policy).back() <= milliseconds(5000));
  policy.backoff_base = milliseconds(0);
  CHECK(pauses(leased(5), ended_by(Cause::failed), policy).back() == milliseconds(0));
  policy.backoff_base = milliseconds(1);
  policy.backoff_max = milliseconds(0);
  CHECK(pauses(leased(5), ended_by(Cause::failed), policy).back() == milliseconds(0));
}

TEST_CASE("Retry-After is the floor of the pause, and no more") {
  Policy policy;
  policy.backoff_base = milliseconds(1000);
  const auto floored = pauses(leased(0), refused_for(milliseconds(600)), policy);
  CHECK(floored.front() == milliseconds(600));
  CHECK(floored.back() > milliseconds(600));
  CHECK(pauses(leased(0), refused_for(seconds(30)), policy).back() == seconds(30));
  // negative control: without one, jobs come back earlier
  CHECK(pauses(leased(0), ended_by(Cause::refused), policy).front() < milliseconds(600));
}

TEST_CASE("a job whose next attempt would be due when its time is over expires now") {
  const auto soon = kNow + seconds(30);
  const Progress job = after(leased(0), refused_for(seconds(30)), {}, 1, soon);
  CHECK(job.state == JobState::expired);
  CHECK(job.cause == Cause::out_of_time);
  CHECK(job.attempts == 1);
  CHECK(job.ended == kNow);
  // negative control: a millisecond earlier there is time
  const Progress other = after(leased(0), refused_for(milliseconds(29'999)), {}, 1, soon);
  CHECK(other.state == JobState::retrying);
  CHECK(other.due == kNow + milliseconds(29'999));
}

TEST_CASE("a job that ends after its time is over keeps its end") {
  const WallTime past = kNow - seconds(1);
  CHECK(after(leased(0), ended_by(Cause::answered), {}, 1, past).state == JobState::succeeded);
  CHECK(after(leased(0), ended_by(Cause::rejected), {}, 1, past).state == JobState::dead);
  // negative control: one that would have to wait
  CHECK(after(leased(0), ended_by(Cause::never_sent), {}, 1, past).state == JobState::expired);
}
