#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "unit/jobs/lives.hpp"

using namespace spillway;
using namespace spillway::jobs;
using std::chrono::seconds;

namespace {

using After = std::array<std::optional<JobState>, kJobStateCount>;

struct Event {
  std::string what;
  std::function<std::optional<Progress>(const Progress&)> happens;
  After expected;  // by state before; nullopt: refused, and nothing changes
};

After from_any(JobState state) {
  After all;
  all.fill(state);
  return all;
}

After from_waiting(JobState state) {
  After some;
  some[index(JobState::queued)] = some[index(JobState::retrying)] = state;
  return some;
}

Event attempt(std::string what, Cause cause, bool is_idempotent, JobState expected) {
  return {std::move(what),
          [=](const Progress& before) {
            AttemptEnd end;
            end.cause = cause;
            end.is_idempotent = is_idempotent;
            return after(before, end);
          },
          from_any(expected)};
}

// The end of an attempt, a return and a recovery belong to the lease, which the store checks before
// it asks; what they lead to does not depend on the state.
std::vector<Event> events() {
  After replayable;
  replayable[index(JobState::dead)] = replayable[index(JobState::expired)] = JobState::queued;
  return {
      attempt("answered", Cause::answered, false, JobState::succeeded),
      attempt("refused", Cause::refused, false, JobState::retrying),
      attempt("failed", Cause::failed, false, JobState::retrying),
      attempt("invalid, idempotent", Cause::invalid_answer, true, JobState::retrying),
      attempt("invalid, not idempotent", Cause::invalid_answer, false, JobState::dead),
      attempt("never sent", Cause::never_sent, false, JobState::retrying),
      attempt("unanswered, idempotent", Cause::unanswered, true, JobState::retrying),
      attempt("unanswered, not idempotent", Cause::unanswered, false, JobState::dead),
      attempt("rejected", Cause::rejected, false, JobState::dead),
      attempt("route gone", Cause::route_gone, false, JobState::dead),
      {"given back", [](const Progress& job) { return given_back(job, kNow); },
       from_any(JobState::retrying)},
      {"interrupted, idempotent",
       [](const Progress& job) { return interrupted(job, true, {}, kNow); },
       from_any(JobState::retrying)},
      {"interrupted, not idempotent",
       [](const Progress& job) { return interrupted(job, false, {}, kNow); },
       from_any(JobState::dead)},
      {"taken away", [](const Progress& job) { return taken_away(job, kNow); },
       from_any(JobState::retrying)},
      {"recovered", [](const Progress& job) { return recovered(job, 3, kNow); },
       from_any(JobState::retrying)},
      {"recovered too often", [](const Progress& job) { return recovered(job, 1, kNow); },
       from_any(JobState::dead)},
      {"cancelled",
       [](const Progress& job) { return cancelled(job, Cause::cancelled_by_client, kNow); },
       from_waiting(JobState::cancelled)},
      {"expired", [](const Progress& job) { return expired(job, kNow); },
       from_waiting(JobState::expired)},
      {"replayed", [](const Progress& job) { return replayed(job, kNow); }, replayable},
  };
}

}  // namespace

TEST_CASE("every event in every state leads where the table says") {
  for (const Event& event : events()) {
    for (std::size_t i = 0; i < kJobStateCount; ++i) {
      const auto before = static_cast<JobState>(i);
      const std::optional<Progress> job = event.happens(in_state(before));
      CAPTURE(event.what);
      CAPTURE(name(before));
      REQUIRE(job.has_value() == event.expected[i].has_value());
      if (!job) continue;
      CHECK(job->state == *event.expected[i]);
      // An end has a time and a cause, and what goes on has no end.
      CHECK((job->ended != kNoTime) == has_ended(job->state));
      if (has_ended(job->state)) CHECK(job->ended == kNow);
      if (has_ended(job->state)) CHECK(job->cause != Cause::none);
    }
  }
}

TEST_CASE("a job that is given back is as it was, and keeps its place") {
  const Progress fresh = given_back(leased(0), kNow);
  CHECK(fresh.state == JobState::queued);
  CHECK(fresh.due == leased(0).due);
  CHECK(fresh.attempts == 0);
  CHECK(fresh.recoveries == 0);
  CHECK(fresh.cause == Cause::none);
  const Progress tried = given_back(leased(4, 2), kNow);
  CHECK(tried.state == JobState::retrying);
  CHECK(tried.attempts == 4);
  CHECK(tried.recoveries == 2);
  CHECK(tried.cause == Cause::failed);
  const WallTime set_back = leased(0).due - seconds(1);
  CHECK(given_back(leased(0), set_back).due == set_back);
}

TEST_CASE("an open circuit gives a job back any number of times without using up attempts") {
  Progress job = leased(9);
  for (int i = 0; i < 1000; ++i) job = given_back(job, kNow);
  CHECK(job.attempts == 9);
  CHECK(job.state == JobState::retrying);
  // negative control: one attempt more would be its last
  AttemptEnd failure;
  failure.cause = Cause::failed;
  CHECK(after(job, failure).state == JobState::dead);
}

TEST_CASE("a job outlives three of its proxies, and is dead as poison with the fourth") {
  Progress job = leased(0);
  for (std::uint32_t i = 1; i <= kMostRecoveries; ++i) {
    job = recovered(job, kMostRecoveries, kNow);
    CHECK(job.state == JobState::retrying);
    CHECK(job.cause == Cause::proxy_ended);
    CHECK(job.recoveries == i);
    CHECK(job.due == kNow);
  }
  job = recovered(job, kMostRecoveries, kNow);
  CHECK(job.state == JobState::dead);
  CHECK(job.cause == Cause::poison);
  CHECK(job.ended == kNow);
}

TEST_CASE("an attempt that its proxy closes counts, keeps its place, and is no job's last one") {
  Progress job = leased(0);
  for (std::uint32_t i = 1; i <= 2 * Policy{}.max_attempts; ++i) {
    job = interrupted(job, true, {}, kNow);
    CHECK(job.state == JobState::retrying);
    CHECK(job.cause == Cause::proxy_ended);
    CHECK(job.attempts == i);
    CHECK(job.recoveries == 0);
    CHECK(job.due == leased(0).due);
  }
}

TEST_CASE("a job outlives any number of leases that its proxy loses, and keeps its place") {
  Progress job = leased(0);
  for (std::uint32_t i = 1; i <= 10 * kMostRecoveries; ++i) {
    CHECK(next_delivery(job) == i);
    job = taken_away(job, kNow);
    CHECK(job.state == JobState::retrying);
    CHECK(job.cause == Cause::proxy_ended);
    CHECK(job.recoveries == 0);
    CHECK(job.due == leased(0).due);
  }
}

TEST_CASE("a job that its proxy closes is sent again only if that is safe or configured") {
  const Progress job = interrupted(leased(0), false, {}, kNow);
  CHECK(job.state == JobState::dead);
  CHECK(job.cause == Cause::not_idempotent);
  CHECK(job.attempts == 1);
  Policy policy;
  policy.retry_unanswered = true;
  CHECK(interrupted(leased(0), false, policy, kNow).state == JobState::retrying);
}

TEST_CASE("a delivery after a proxy has ended or closed it has a number that none had before") {
  Progress job = leased(0);
  CHECK(next_delivery(job) == 1);
  job = recovered(job, kMostRecoveries, kNow);
  CHECK(next_delivery(job) == 2);
  job = interrupted(job, true, {}, kNow);
  CHECK(next_delivery(job) == 3);
  CHECK(next_delivery(given_back(job, kNow)) == 3);
  AttemptEnd failure;
  failure.cause = Cause::failed;
  CHECK(next_delivery(after(job, failure)) == 4);
  failure.cause = Cause::never_sent;
  CHECK(next_delivery(after(job, failure)) == 3);
}

TEST_CASE("recoveries and attempts are counted apart") {
  CHECK(recovered(leased(9), kMostRecoveries, kNow).attempts == 9);
  AttemptEnd failure;
  failure.cause = Cause::failed;
  CHECK(after(leased(0, 3), failure).recoveries == 3);
  CHECK(after(leased(0, 3), failure).state == JobState::retrying);
}

TEST_CASE("a job is cancelled by its client or the operator only while it waits") {
  for (const Cause by : {Cause::cancelled_by_client, Cause::cancelled_by_operator}) {
    const auto job = cancelled(in_state(JobState::queued), by, kNow);
    REQUIRE(job);
    CHECK(job->cause == by);
    CHECK(job->ended == kNow);
  }
  CHECK_FALSE(cancelled(in_state(JobState::leased), Cause::cancelled_by_client, kNow));
}

TEST_CASE("a job that is in hand does not expire") {
  CHECK_FALSE(expired(leased(0), kNow));
  const auto job = expired(in_state(JobState::retrying), kNow);
  REQUIRE(job);
  CHECK(job->cause == Cause::out_of_time);
}

TEST_CASE("a job that is replayed begins anew, with all its attempts") {
  const auto job = replayed(in_state(JobState::dead), kNow + seconds(3));
  REQUIRE(job);
  Progress anew;
  anew.due = kNow + seconds(3);
  CHECK(*job == anew);
  // negative control: neither one that succeeded nor one that was cancelled is done twice
  CHECK_FALSE(replayed(in_state(JobState::succeeded), kNow));
  CHECK_FALSE(replayed(in_state(JobState::cancelled), kNow));
}
