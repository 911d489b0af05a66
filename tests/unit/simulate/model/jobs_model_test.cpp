// The jobs of a simulation: which are pulled when, and what becomes of attempts that fail.
#include "simulate/model/jobs_model.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <string>
#include <vector>

#include "unit/simulate/scenarios.hpp"

using namespace std::chrono_literals;

namespace spillway::simulate {
namespace {

constexpr TimePoint kStart = TimePoint{} + std::chrono::hours(1);
using jobs::Cause;

// Two routes with this `defer`, "first" and "second".
Scenario deferring(const std::string& defer) {
  return scenario_of(
      R"("clients":[{"route":"first","rate":1},{"route":"second","rate":1}])",
      R"(,"routes":[{"name":"first","match":{"path":"/1"},"class":"P2","defer":)" + defer +
          R"(},{"name":"second","match":{"path":"/2"},"class":"P2","defer":)" + defer + "}]");
}

struct Desk {
  explicit Desk(const std::string& defer) : scenario(deferring(defer)), jobs(scenario, kStart) {}

  // False: not kept.
  bool defer(int count, std::uint32_t clients = 0) {
    bool all = true;
    for (int i = 0; i < count; ++i) {
      requests.emplace_back().demand.clients = clients;
      all = jobs.accept(requests.back(), now) && all;
    }
    return all;
  }
  std::vector<Request*> pull(State state = State::normal) { return jobs.pull(state, now); }
  // Pulls until none may be pulled any more.
  std::vector<Request*> pull_all() {
    std::vector<Request*> all;
    for (auto some = pull(); !some.empty(); some = pull())
      all.insert(all.end(), some.begin(), some.end());
    return all;
  }
  // One job, from its acceptance to the end of its first attempt.
  Request& attempt(Cause how) {
    Request& job = *pull_all().at(0);
    jobs.begin();
    const auto progress = jobs.end(job, how, now);
    is_again = progress.has_value();
    if (progress) jobs.put_back(job, *progress);
    return job;
  }
  // When it is due.
  static TimePoint due(const Request& job) {
    return TimePoint(job.as_job->progress.due.time_since_epoch());
  }

  Scenario scenario;
  JobsModel jobs;
  std::deque<Request> requests;
  TimePoint now = kStart;
  bool is_again = false;
};

}  // namespace

TEST_CASE("jobs are pulled in the order in which they came and a few ahead of those that run") {
  Desk desk("{}");
  desk.defer(100);
  const auto pulled = desk.pull_all();
  REQUIRE(pulled.size() == 8);
  for (std::size_t i = 0; i < pulled.size(); ++i) CHECK(pulled[i]->as_job->number == i + 1);
  for (int i = 0; i < 8; ++i) desk.jobs.begin();
  CHECK(desk.pull_all().size() == 8);  // as many wait at the gate as run
}

TEST_CASE("no job is pulled while its upstream is overloaded unless its route names a class") {
  for (const State state : {State::elevated, State::overloaded, State::critical}) {
    Desk background("{}"), competing(R"({"class":"P2"})");
    background.defer(1);
    competing.defer(1);
    CHECK(background.pull(state).empty());
    CHECK(competing.pull(state).size() == 1);
  }
}

TEST_CASE("a route's concurrency bounds what is pulled, and its rate what begins") {
  Desk few(R"({"concurrency":3})");
  few.defer(100);
  CHECK(few.pull_all().size() == 3);
  Desk slow(R"({"rate":10})");
  slow.defer(100);
  std::size_t begun = 0;
  for (int i = 0; i < 100; ++i) {  // ten seconds
    const auto some = slow.pull();
    for (Request* job : some) {
      if (!slow.jobs.may_begin(*job, slow.now)) {
        slow.jobs.give_back(*job, jobs::NoSlot::waited, slow.now);
        continue;
      }
      ++begun;
      slow.jobs.begin();
      slow.jobs.end(*job, Cause::answered, slow.now);
    }
    slow.now += 100ms;
  }
  CHECK(begun >= 98);
  CHECK(begun <= 102);
}

TEST_CASE("routes take turns however much one of them has deferred") {
  Desk desk("{}");
  desk.defer(1000, 0);
  desk.defer(4, 1);
  for (int i = 0; i < 50; ++i) desk.jobs.begin();
  const auto pulled = desk.pull();  // of a lane each
  REQUIRE(pulled.size() == 16 + 4);
  for (std::size_t i = 0; i < pulled.size(); ++i)
    CHECK(pulled[i]->demand.clients == (i < 16 ? 0 : 1));
}

TEST_CASE("an upstream has half of what may be in hand, as in the proxy") {
  Desk desk("{}");
  desk.defer(1500);
  for (int i = 0; i < 2000; ++i) desk.jobs.begin();
  CHECK(desk.pull_all().size() == jobs::kMostInHand / 2);
}

TEST_CASE("tenants of a route take turns however much one of them has deferred") {
  Desk desk("{}");
  desk.defer(1000);
  for (int i = 0; i < 4; ++i) {
    Request& request = desk.requests.emplace_back();
    request.demand.tenant_id = TenantId{7};
    CHECK(desk.jobs.accept(request, desk.now));
  }
  for (int i = 0; i < 50; ++i) desk.jobs.begin();
  const auto pulled = desk.pull();
  REQUIRE(pulled.size() == 16 + 4);
  for (std::size_t i = 0; i < pulled.size(); ++i)
    CHECK((pulled[i]->demand.tenant_id == TenantId{7}) == (i >= 16));
}

TEST_CASE("no more jobs of a route wait than its max_pending") {
  Desk desk(R"({"max_pending":5})");
  CHECK(desk.defer(4));
  CHECK_FALSE(desk.defer(1));  // its tenant's share
  const auto of_another = [&] {
    Request& request = desk.requests.emplace_back();
    request.demand.tenant_id = TenantId{7};
    return desk.jobs.accept(request, desk.now);
  };
  CHECK(of_another());
  CHECK_FALSE(of_another());
  CHECK(desk.defer(4, 1));  // another route
  const JobsSummary summary = desk.jobs.summary(desk.now);
  CHECK(summary.deferred == 9);
  CHECK(summary.not_kept == 2);
  CHECK(summary.most_pending == 9);
}

TEST_CASE("an attempt that failed is tried again after a pause and no more often than configured") {
  Desk desk(R"({"max_attempts":3,"backoff":{"base_ms":1000,"max_ms":60000}})");
  desk.defer(1);
  for (const Duration most : {Duration(1s), Duration(2s)}) {
    const Request& job = desk.attempt(Cause::failed);
    CHECK(desk.is_again);
    CHECK(Desk::due(job) >= desk.now);
    CHECK(Desk::due(job) <= desk.now + most);
    desk.now = Desk::due(job);
  }
  desk.attempt(Cause::failed);
  CHECK_FALSE(desk.is_again);
  const JobsSummary summary = desk.jobs.summary(desk.now);
  CHECK(summary.dead == 1);
  CHECK(summary.retried == 2);
  CHECK(summary.pending == 0);
}

TEST_CASE("an unsafe request that was sent and not answered is tried again only where told to") {
  Desk plain("{}"), told(R"({"retry_unanswered":true})");
  plain.defer(1);
  told.defer(1);
  plain.attempt(Cause::unanswered);
  told.attempt(Cause::unanswered);
  CHECK(plain.jobs.summary(plain.now).dead == 1);
  CHECK(told.jobs.summary(told.now).pending == 1);
}

TEST_CASE("a job that could not be sent counts no attempt and its route pauses") {
  Desk desk(R"({"max_attempts":1})");
  desk.defer(1);
  for (int i = 0; i < 5; ++i) {
    const Request& job = desk.attempt(Cause::never_sent);
    CHECK(job.as_job->progress.attempts == 0);
    CHECK(desk.pull().empty());
    desk.now += 31s;
  }
  CHECK(desk.jobs.summary(desk.now).dead == 0);
}

TEST_CASE("a job that finds every circuit open counts nothing and its route pauses") {
  Desk desk(R"({"max_attempts":1})");
  desk.defer(1);
  const Request& job = desk.attempt(Cause::none);
  CHECK(job.as_job->progress.attempts == 0);
  CHECK(job.as_job->progress.state == jobs::JobState::queued);
  CHECK(desk.jobs.summary(desk.now).retried == 0);
  desk.now += 999ms;
  CHECK(desk.pull().empty());
  desk.now += 1ms;
  CHECK(desk.pull().size() == 1);
}

TEST_CASE("a job whose next attempt would come after its time to live has expired") {
  Desk desk(R"({"ttl_ms":1000,"backoff":{"base_ms":3600000,"max_ms":3600000}})");
  desk.defer(1);
  desk.attempt(Cause::failed);
  CHECK_FALSE(desk.is_again);
  CHECK(desk.jobs.summary(desk.now).expired == 1);
  CHECK(desk.jobs.summary(desk.now).dead == 0);
}

TEST_CASE("a job without a slot is given back and nothing is counted") {
  Desk desk("{}");
  desk.defer(1);
  Request& job = *desk.pull().at(0);
  desk.now += 5s;
  desk.jobs.give_back(job, jobs::NoSlot::refused, desk.now);
  desk.defer(1);
  CHECK(desk.pull().empty());
  desk.now += 100ms;
  const auto pulled = desk.pull_all();
  REQUIRE(pulled.size() == 2);
  CHECK_MESSAGE(pulled[0] == &job, "before the one that came later");
  CHECK(job.as_job->progress.attempts == 0);
}

TEST_CASE("a job that waited for a spare slot in vain waits again, since no other proxy has one") {
  Desk desk(R"({"class":"P2"})");
  desk.defer(1);
  Request& job = *desk.pull().at(0);
  desk.jobs.give_back(job, jobs::NoSlot::waited, desk.now);
  CHECK(desk.pull_all() == std::vector<Request*>{&job});
}

TEST_CASE("a job that is put off waits for the least pause and one more, and nothing is counted") {
  Desk desk(R"({"backoff":{"base_ms":4000,"max_ms":4000}})");
  desk.defer(1);
  Request& job = *desk.pull().at(0);
  desk.jobs.put_off(job, desk.now);
  CHECK(job.as_job->progress.attempts == 0);
  CHECK(Desk::due(job) >= desk.now + 4s);
  CHECK(Desk::due(job) <= desk.now + 8s);
  desk.now += 3999ms;
  CHECK(desk.pull().empty());
  desk.now += 4001ms;
  CHECK(desk.pull().at(0) == &job);
  CHECK(desk.jobs.summary(desk.now).retried == 0);
}

TEST_CASE("a job whose time to live is over is not pulled") {
  Desk desk(R"({"ttl_ms":60000})");
  desk.defer(1);
  desk.now += 59s;
  CHECK(desk.jobs.expire(desk.now) == nullptr);
  desk.now += 1s;
  CHECK(desk.jobs.expire(desk.now) == &desk.requests.front());
  CHECK(desk.jobs.expire(desk.now) == nullptr);
  CHECK(desk.pull().empty());
  CHECK(desk.jobs.summary(desk.now).expired == 1);
}

TEST_CASE("the summary tells how long the oldest has waited and when the backlog was empty") {
  Desk desk("{}");
  desk.defer(1);
  desk.now += 5s;
  CHECK(desk.jobs.summary(desk.now).longest == doctest::Approx(5));
  CHECK_FALSE(desk.jobs.summary(desk.now).empty_at.has_value());
  desk.attempt(Cause::answered);
  CHECK(desk.jobs.summary(desk.now + 9s).longest == doctest::Approx(5));
  CHECK(desk.jobs.summary(desk.now + 9s).empty_at == doctest::Approx(5));
}

}  // namespace spillway::simulate
