// Several proxies on one database.
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <set>
#include <thread>

#include "unit/store/postgres_fleet.hpp"

namespace spillway::store {
namespace {

jobs::Progress success(jobs::WallTime now) {
  return {jobs::JobState::succeeded, now, 1, 0, jobs::Cause::answered, now};
}

// Claims until nothing is left, in batches of 7.
void claim_all(JobStore& store, const jobs::Lane& lane, jobs::WallTime now,
               std::vector<jobs::JobId>& claimed) {
  Command join = Join{"proxy", 10min};
  Command* const joining[] = {&join};
  if (store.execute(joining, now)) return;
  for (;;) {
    Command claim = Claim{std::get<Join>(join).epoch, lane, 7};
    Command* const batch[] = {&claim};
    if (store.execute(batch, now)) return;
    const auto& jobs = std::get<Claim>(claim).jobs;
    if (jobs.empty()) return;
    for (const auto& job : jobs) claimed.push_back(job.id);
  }
}

TEST_CASE("two proxies that claim at the same time never have the same job") {
  Fleet fleet;
  constexpr std::uint64_t kJobs = 500;
  std::vector<Command> batch;
  for (std::uint64_t n = 0; n < kJobs; ++n) {
    Enqueue enqueue;
    enqueue.job = fleet.first.job(n);
    enqueue.max_pending = kJobs;
    batch.push_back(enqueue);
  }
  fleet.first.execute(batch);
  std::vector<jobs::JobId> claimed[2];
  const jobs::Lane lane = fleet.first.job(0).lane;
  const jobs::WallTime now = fleet.first.now();
  std::thread other([&] { claim_all(fleet.second(), lane, now, claimed[1]); });
  claim_all(fleet.first.store(), lane, now, claimed[0]);
  other.join();
  std::set<jobs::JobId> all(claimed[0].begin(), claimed[0].end());
  all.insert(claimed[1].begin(), claimed[1].end());
  CHECK(claimed[0].size() + claimed[1].size() == all.size());
  // What one has locked the other passes over; it may have ended before the first has let go.
  CHECK(all.size() + fleet.first.count(jobs::JobState::queued) == kJobs);
}

// Sixteen lanes at a time, from a lane of its own on.
void claim_lanes(JobStore& store, const std::vector<jobs::Lane>& lanes, std::size_t first,
                 jobs::WallTime now, std::vector<jobs::JobId>& claimed) {
  Command join = Join{"proxy", 10min};
  Command* const joining[] = {&join};
  if (store.execute(joining, now)) return;
  for (std::size_t at = 0, empty = 0; empty < lanes.size();) {
    std::vector<Command> claims;
    for (std::size_t n = 0; n < 16; ++n, ++at)
      claims.push_back(Claim{std::get<Join>(join).epoch, lanes[(first + at) % lanes.size()], 2});
    std::vector<Command*> batch;
    for (Command& claim : claims) batch.push_back(&claim);
    if (store.execute(batch, now)) return;
    for (const Command& command : claims) {
      const Claim& claim = std::get<Claim>(command);
      empty = claim.jobs.empty() ? empty + 1 : 0;
      for (const auto& job : claim.jobs) {
        CHECK(job.lane == claim.lane);
        claimed.push_back(job.id);
      }
    }
  }
}

TEST_CASE("two proxies that claim of many lanes at once never have the same job, and have all") {
  Fleet fleet;
  constexpr std::uint64_t kLanes = 40, kJobs = 10 * kLanes;
  std::vector<Command> batch;
  std::vector<jobs::Lane> lanes;
  for (std::uint64_t n = 0; n < kJobs; ++n) {
    Enqueue enqueue;
    enqueue.job = fleet.first.job(n);
    enqueue.job.lane.tenant = TenantId{n % kLanes};
    if (n < kLanes) lanes.push_back(enqueue.job.lane);
    enqueue.max_pending = kJobs;
    batch.push_back(enqueue);
  }
  fleet.first.execute(batch);
  std::vector<jobs::JobId> claimed[2];
  const jobs::WallTime now = fleet.first.now();
  std::thread other([&] { claim_lanes(fleet.second(), lanes, 8, now, claimed[1]); });
  claim_lanes(fleet.first.store(), lanes, 0, now, claimed[0]);
  other.join();
  std::set<jobs::JobId> all(claimed[0].begin(), claimed[0].end());
  all.insert(claimed[1].begin(), claimed[1].end());
  CHECK(claimed[0].size() + claimed[1].size() == all.size());
  CHECK(all.size() + fleet.first.count(jobs::JobState::queued) == kJobs);
  CHECK(fleet.first.count(jobs::JobState::leased) == all.size());
}

TEST_CASE("a proxy whose lease is over settles nothing any more, and another has its jobs") {
  Fleet fleet;
  UnderTest& first = fleet.first;
  const Epoch late = first.join(10s);
  const Epoch other = fleet.ask_second(Join{"other", 10min}).epoch;
  CHECK(other > late);
  first.enqueue(first.job(1));
  REQUIRE(first.claim(late).size() == 1);
  first.pass(10s);
  CHECK(fleet.ask_second(Sweep{100}).recovered == std::vector{job_id(1)});
  REQUIRE(fleet.ask_second(Claim{other, first.job(1).lane, 10}).jobs.size() == 1);

  CHECK_FALSE(first.succeed(late, 1));
  CHECK(first.ask(Renew{late, 10s}).is_lost);
  CHECK(first.state(1) == "leased");
  CHECK(first.find(1)->progress.recoveries == 1);
  first.enqueue(first.job(2));
  CHECK_MESSAGE(first.claim(late).empty(), "nor does it claim");

  Settle settle;
  settle.epoch = other;
  settle.id = job_id(1);
  settle.progress = success(first.now());
  CHECK_FALSE(fleet.ask_second(settle).is_lost);
  CHECK(first.state(1) == "succeeded");
}

TEST_CASE("a proxy that renews its lease is told at which rate the others that live end jobs") {
  Fleet fleet;
  const Epoch me = fleet.first.join(10min);
  const auto others = [&] {
    return fleet.first.ask(Renew{.epoch = me, .lease = 10min, .rate = 7000}).rate_of_others;
  };
  CHECK_MESSAGE(others() == 0, "its own is not among them");
  const Epoch second = fleet.ask_second(Join{"second", 10min}).epoch;
  const Epoch third = fleet.ask_second(Join{"third", 10s}).epoch;
  CHECK(others() == 0);
  fleet.ask_second(Renew{.epoch = second, .lease = 10min, .rate = 20'500});
  CHECK(fleet.ask_second(Renew{.epoch = third, .lease = 10s, .rate = 1000}).rate_of_others ==
        27'500);
  CHECK(others() == 21'500);
  fleet.first.pass(10s);  // the third one's lease is over
  CHECK(others() == 20'500);
  fleet.ask_second(Leave{second});
  CHECK(others() == 0);
}

TEST_CASE(
    "before its jobs are recovered, a proxy that is late by a little settles them after all") {
  Fleet fleet;
  const Epoch late = fleet.first.join(10s);
  fleet.first.enqueue(fleet.first.job(1));
  REQUIRE(fleet.first.claim(late).size() == 1);
  fleet.first.pass(10s);
  CHECK(fleet.first.succeed(late, 1));
  CHECK(fleet.ask_second(Sweep{100}).recovered.empty());
}

// The control of the case above: it is the epoch that refuses it, and nothing else.
TEST_CASE("a late acknowledgement counts if the job has no epoch but its own") {
  Fleet fleet;
  UnderTest& first = fleet.first;
  const Epoch late = first.join(10s);
  const Epoch other = fleet.ask_second(Join{"other", 10min}).epoch;
  first.enqueue(first.job(1));
  REQUIRE(first.claim(late).size() == 1);
  first.pass(10s);
  fleet.ask_second(Sweep{100});
  REQUIRE(fleet.ask_second(Claim{other, first.job(1).lane, 10}).jobs.size() == 1);
  support::Postgres::ask(fleet.url(), "UPDATE spillway.leased SET epoch = " + std::to_string(late));
  CHECK(first.succeed(late, 1));
}

const jobs::Lane kToldLane{255, "ex port\xC3\xA9", TenantId{~std::uint64_t{0}}};

// What the store hears in the end, or within `patience` in vain.
std::vector<jobs::Lane> heard_by(JobStore& store, std::chrono::milliseconds patience = 10s) {
  const auto until = std::chrono::steady_clock::now() + patience;
  std::vector<jobs::Lane> lanes;
  while (lanes.empty() && std::chrono::steady_clock::now() < until) {
    pollfd ready{store.descriptor(), POLLIN, 0};
    ::poll(&ready, 1, 20);
    lanes = store.heard().lanes;
  }
  return lanes;
}

TEST_CASE("what a proxy announces the others hear, without asking, and it does not itself") {
  Fleet fleet;
  fleet.first.ask(Announce{{kToldLane, kToldLane}});
  CHECK(heard_by(fleet.second()) == std::vector{kToldLane});
  CHECK_MESSAGE(fleet.second().heard().is_empty(), "once");
  CHECK(heard_by(fleet.first.store(), 50ms).empty());
}

TEST_CASE("a cancel is told as lanes are") {
  Fleet fleet;
  const AskedCancel cancel{job_id(3), jobs::Cause::cancelled_by_operator};
  fleet.first.ask(Announce{.lanes = {kToldLane}, .cancels = {cancel}});
  const auto until = std::chrono::steady_clock::now() + 10s;
  Heard all;
  while ((all.lanes.empty() || all.cancels.empty()) && std::chrono::steady_clock::now() < until) {
    pollfd ready{fleet.second().descriptor(), POLLIN, 0};
    ::poll(&ready, 1, 20);
    const Heard heard = fleet.second().heard();
    all.lanes.insert(all.lanes.end(), heard.lanes.begin(), heard.lanes.end());
    all.cancels.insert(all.cancels.end(), heard.cancels.begin(), heard.cancels.end());
  }
  CHECK(all.lanes == std::vector{kToldLane});
  CHECK(all.cancels == std::vector{cancel});
}

TEST_CASE("an announcement that comes amid a batch is heard after it") {
  Fleet fleet;
  fleet.first.ask(Announce{{kToldLane}});
  fleet.ask_second(Totals{});
  CHECK(heard_by(fleet.second()) == std::vector{kToldLane});
}

TEST_CASE("a batch that fails announces nothing") {
  Fleet fleet;
  std::vector<Command> batch{Announce{{kToldLane}}, Purge{}};
  support::Postgres::ask(fleet.url(), "ALTER TABLE spillway.ended RENAME TO gone");
  std::vector<Command*> commands{&batch[0], &batch[1]};
  CHECK(fleet.first.store().execute(commands, fleet.first.now()));
  support::Postgres::ask(fleet.url(), "ALTER TABLE spillway.gone RENAME TO ended");
  CHECK(heard_by(fleet.second(), 50ms).empty());
}

TEST_CASE("two stores in one database do not hear each other") {
  Fleet fleet;
  const Opened other = open_store(fleet.url() + "&options=-csearch_path%3Dblue", {});
  REQUIRE(other.store);
  fleet.first.ask(Announce{{kToldLane}});
  CHECK(heard_by(fleet.second()) == std::vector{kToldLane});
  CHECK(heard_by(*other.store, 50ms).empty());
}

TEST_CASE("a proxy whose connection was ended hears nothing, and hears again once it has another") {
  Fleet fleet;
  support::Postgres::ask(fleet.url(),
                         "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                         "WHERE application_name = 'spillway' AND datname = current_database()");
  CHECK(heard_by(fleet.second(), 200ms).empty());
  CHECK(fleet.second().descriptor() == -1);
  fleet.first.ask(Announce{{kToldLane}});
  CHECK(heard_by(fleet.second(), 50ms).empty());
  fleet.ask_second(Totals{});
  CHECK(fleet.second().descriptor() != -1);
  CHECK_MESSAGE(heard_by(fleet.second(), 50ms).empty(), "what was told meanwhile is not repeated");
  fleet.first.ask(Announce{{kToldLane}});
  CHECK(heard_by(fleet.second()) == std::vector{kToldLane});
}

TEST_CASE("a job that one proxy gives back below the other's watermark is found by it") {
  Fleet fleet;
  UnderTest& first = fleet.first;
  const Epoch one = first.join();
  const Epoch two = fleet.ask_second(Join{"other", 10min}).epoch;
  first.enqueue(first.job(1));
  first.pass(1min);
  REQUIRE(first.claim(one).size() == 1);
  first.enqueue(first.job(2));
  REQUIRE(fleet.ask_second(Claim{two, first.job(1).lane, 10}).jobs.size() == 1);
  first.settle(one, 1, {jobs::JobState::queued, first.job(1).accepted - 1min, 0, 0});
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  std::size_t found = 0;
  while (found == 0 && std::chrono::steady_clock::now() < deadline) {
    found = fleet.ask_second(Claim{two, first.job(1).lane, 10}).jobs.size();
  }
  CHECK(found == 1);
}

// Jobs of one order, enqueued by one thread while another ends them.
TEST_CASE("jobs of one order are let on one by one while two proxies enqueue and end them") {
  Fleet fleet;
  constexpr std::uint64_t kJobs = 150;
  const jobs::Lane lane = fleet.first.job(0).lane;
  const jobs::WallTime now = fleet.first.now();
  const Epoch epoch = fleet.ask_second(Join{"other", 10min}).epoch;
  std::vector<jobs::JobId> ran;
  std::size_t most_at_once = 0;
  std::thread other([&] {
    const auto deadline = std::chrono::steady_clock::now() + 30s;
    while (ran.size() < kJobs && std::chrono::steady_clock::now() < deadline) {
      Command claim = Claim{epoch, lane, 10};
      Command* const claiming[] = {&claim};
      if (fleet.second().execute(claiming, now)) return;
      const auto& jobs = std::get<Claim>(claim).jobs;
      most_at_once = std::max(most_at_once, jobs.size());
      for (const auto& job : jobs) {
        ran.push_back(job.id);
        Settle settle;
        settle.epoch = epoch;
        settle.id = job.id;
        settle.progress = success(now);
        Command command = settle;
        Command* const settling[] = {&command};
        if (fleet.second().execute(settling, now)) return;
      }
    }
  });
  for (std::uint64_t n = 0; n < kJobs; ++n) {
    jobs::NewJob job = fleet.first.job(n);
    job.order = jobs::Digest{7};
    fleet.first.enqueue(job);
  }
  other.join();
  CHECK(most_at_once == 1);
  REQUIRE(ran.size() == kJobs);
  for (std::uint64_t n = 0; n < kJobs; ++n) CHECK(ran[n] == job_id(n));
}

TEST_CASE("of the same key from two proxies at the same time one is accepted") {
  Fleet fleet;
  constexpr std::uint64_t kKeys = 100;
  std::vector<Enqueue::Result> results[2];
  const auto send = [&](JobStore& store, std::uint64_t first_id, auto& into) {
    for (std::uint64_t n = 0; n < kKeys; ++n) {
      Enqueue enqueue;
      enqueue.job = fleet.first.job(first_id + n);
      enqueue.job.idempotency = {{static_cast<std::uint8_t>(n)}, {1}};
      enqueue.max_pending = 10 * kKeys;
      Command command = enqueue;
      Command* const batch[] = {&command};
      if (store.execute(batch, fleet.first.now())) return;
      into.push_back(std::get<Enqueue>(command).result);
    }
  };
  std::thread other([&] { send(fleet.second(), 1000, results[1]); });
  send(fleet.first.store(), 0, results[0]);
  other.join();
  REQUIRE(results[0].size() == kKeys);
  REQUIRE(results[1].size() == kKeys);
  for (std::size_t n = 0; n < kKeys; ++n) {
    const std::multiset<Enqueue::Result> both{results[0][n], results[1][n]};
    CHECK(both == std::multiset{Enqueue::Result::accepted, Enqueue::Result::duplicate});
  }
  CHECK(fleet.first.count(jobs::JobState::queued) == kKeys);
}

}  // namespace
}  // namespace spillway::store
