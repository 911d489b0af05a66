// What every store does: the life of a job.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "unit/store/under_test.hpp"

namespace spillway::store {

using jobs::Cause;
using jobs::JobId;
using jobs::JobState;
using Ids = std::vector<JobId>;
using Result = Enqueue::Result;

TEST_CASE("a job that was accepted is found as it was written, and is leased once") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    CHECK(store.enqueue(store.job(1)).result == Result::accepted);
    const auto found = store.find(1);
    REQUIRE(found);
    CHECK(found->lane == store.job(1).lane);
    CHECK(found->tenant_name == "acme");
    CHECK(found->method == "POST");
    CHECK(found->target == "/orders");
    CHECK(found->body_bytes == 7);
    CHECK(found->accepted == store.now());
    CHECK(found->expires == store.now() + 1h);
    CHECK(found->progress == jobs::Progress{JobState::queued, store.now()});
    CHECK(found->position == 1);

    const auto claimed = store.ask(Claim{epoch, store.job(1).lane, 10}).jobs;
    REQUIRE(claimed.size() == 1);
    CHECK(claimed[0].id == job_id(1));
    CHECK(claimed[0].head == store.job(1).head);
    CHECK(claimed[0].body == "order 1");
    CHECK(claimed[0].target == "/orders");
    CHECK(claimed[0].progress.state == JobState::leased);
    CHECK(store.state(1) == "leased");
    CHECK(store.claim(epoch).empty());
    CHECK_FALSE(store.find(2));
  });
}

TEST_CASE(
    "jobs of a lane are leased in the order in which they are due, and other lanes' are not") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    for (const std::uint64_t n : {3, 1, 2}) store.enqueue(store.job(n));
    jobs::NewJob other = store.job(4);
    other.lane.tenant = TenantId{2};
    store.enqueue(other);
    CHECK(store.find(2)->position == 3);
    CHECK(store.claim(epoch, 2) == Ids{job_id(3), job_id(1)});
    CHECK(store.claim(epoch, 2) == Ids{job_id(2)});
    CHECK(store.claim(epoch, other.lane, 2) == Ids{job_id(4)});
  });
}

TEST_CASE("a job that is to be retried is leased when it is due and no earlier") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    store.enqueue(store.job(1));
    store.claim(epoch);
    CHECK(store.retry(epoch, 1, 5s));
    CHECK(store.state(1) == "retrying");
    CHECK(store.find(1)->progress.attempts == 1);
    CHECK(store.find(1)->progress.cause == Cause::failed);
    store.pass(4s);
    CHECK(store.claim(epoch).empty());
    CHECK(store.ask(Lanes{10}).found.empty());
    CHECK(store.ask(Lanes{10, 2s}).found.size() == 1);
    store.pass(2s);
    CHECK(store.ask(Lanes{10}).found.size() == 1);
    CHECK(store.claim(epoch) == Ids{job_id(1)});
  });
}

TEST_CASE("lanes with claimable jobs are told, so many at a time, and none is left out") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    std::set<jobs::Lane> all;
    for (std::uint64_t n = 0; n < 7; ++n) {
      jobs::NewJob job = store.job(n);
      job.lane = {static_cast<std::uint8_t>(5 - n / 2), n % 2 ? "odd" : "even", TenantId{n}};
      if (n == 6) job.lane.tenant = TenantId{~std::uint64_t{0}};
      store.enqueue(job);
      all.insert(job.lane);
    }
    const auto told_by = [&](std::size_t limit) {
      std::set<jobs::Lane> told;
      Lanes lanes{limit};
      do {
        lanes.after = lanes.next;
        lanes = store.ask(lanes);
        CHECK(lanes.found.size() <= limit);
        for (const Lanes::One& one : lanes.found) {
          CHECK(one.oldest_due == store.now());
          CHECK_MESSAGE(told.insert(one.lane).second, "once");
        }
      } while (lanes.next && told.size() <= all.size());
      return told;
    };
    for (const std::size_t limit : {1, 2, 3, 7, 100}) CHECK(told_by(limit) == all);
    const jobs::Lane gone{5, "odd", TenantId{1}};
    CHECK(store.claim(epoch, gone, 1) == Ids{job_id(1)});
    all.erase(gone);
    CHECK(told_by(3) == all);
  });
}

TEST_CASE("a page of lanes goes on behind one that is gone, and passes over what is not due") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    for (std::uint64_t n = 0; n < 4; ++n) {
      jobs::NewJob job = store.job(n);
      job.lane.tenant = TenantId{n};
      store.enqueue(job);
    }
    const auto lane = [&](std::uint64_t n) { return jobs::Lane{3, "orders", TenantId{n}}; };
    Lanes lanes = store.ask(Lanes{2});
    REQUIRE(lanes.next == lane(1));
    REQUIRE(store.claim(epoch, lane(1), 1).size() == 1);
    REQUIRE(store.claim(epoch, lane(2), 1).size() == 1);
    REQUIRE(store.retry(epoch, 2, 5s));
    lanes.after = lanes.next;
    lanes = store.ask(lanes);
    REQUIRE(lanes.found.size() == 1);
    CHECK(lanes.found[0].lane == lane(3));
  });
}

TEST_CASE("an acknowledgement of another epoch, or of a job that is not leased, changes nothing") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    store.enqueue(store.job(1));
    CHECK_FALSE(store.succeed(epoch, 1));
    store.claim(epoch);
    CHECK_FALSE(store.succeed(epoch + 1, 1));
    CHECK(store.state(1) == "leased");
    CHECK(store.succeed(epoch, 1));
    CHECK_FALSE(store.die(epoch, 1));
    CHECK(store.state(1) == "succeeded");
    CHECK_FALSE(store.succeed(epoch, 2));
  });
}

TEST_CASE(
    "a proxy that does not renew its lease loses its jobs to a sweep; one that does keeps them") {
  each_store([](UnderTest& store) {
    if (!store.is_shared()) return;  // there is no other one that could have them
    const Epoch epoch = store.join(10s);
    store.enqueue(store.job(1));
    store.claim(epoch);
    store.pass(8s);
    CHECK_FALSE(store.ask(Renew{epoch, 10s}).is_lost);
    store.pass(8s);
    CHECK(store.sweep().recovered.empty());
    store.pass(3s);
    CHECK(store.sweep().recovered == Ids{job_id(1)});
    CHECK(store.ask(Renew{epoch, 10s}).is_lost);
    CHECK(store.state(1) == "retrying");
    CHECK(store.find(1)->progress.recoveries == 1);
    CHECK(store.find(1)->progress.attempts == 0);
    CHECK_FALSE(store.succeed(epoch, 1));
    CHECK(store.claim(epoch).empty());
    const Epoch next = store.join(10s);
    CHECK(next > epoch);
    CHECK(store.claim(next) == Ids{job_id(1)});
  });
}

TEST_CASE("a job that four proxies ended with is dead as poison, with three it is not") {
  each_store([](UnderTest& store) {
    store.enqueue(store.job(1));
    for (int n = 0; n < 4; ++n) {
      CHECK(store.state(1) != "dead");
      CHECK(store.claim(store.join(10s)) == Ids{job_id(1)});
      store.end_proxies(10s);
      const Sweep sweep = store.sweep();
      CHECK(sweep.recovered.size() == (n < 3 ? 1 : 0));
      CHECK(sweep.poisoned.size() == (n < 3 ? 0 : 1));
    }
    CHECK(store.state(1) == "dead");
    CHECK(store.find(1)->progress.cause == Cause::poison);
    const Inspect inspect = store.ask(Inspect{.id = job_id(1), .body_limit = 0});
    REQUIRE(inspect.attempts.size() == 4);
    for (const jobs::Attempt& attempt : inspect.attempts) {
      CHECK(attempt.number == 0);
      CHECK(attempt.cause == Cause::proxy_ended);
    }
    CHECK(inspect.attempts.back().ended == store.find(1)->progress.ended);
  });
}

TEST_CASE("a new process takes over what the one before had leased, at once") {
  each_store([](UnderTest& store) {
    if (store.is_shared()) return;
    const Epoch before = store.join(10min);
    store.enqueue(store.job(1));
    store.claim(before);
    CHECK(store.sweep().recovered.empty());
    const Epoch after = store.join(10min);
    CHECK(store.sweep().recovered == Ids{job_id(1)});
    CHECK_FALSE(store.succeed(before, 1));
    CHECK(store.claim(after) == Ids{job_id(1)});
  });
}

TEST_CASE("a proxy is told the time of a store that has a clock, when it joins and renews") {
  each_store([](UnderTest& store) {
    const auto told = [&] { return store.is_shared() ? store.now() : jobs::kNoTime; };
    const Join join = store.ask(Join{"proxy", 10s});
    CHECK(join.now == told());
    store.pass(5s);
    CHECK(store.ask(Renew{join.epoch, 10s}).now == told());
  });
}

TEST_CASE("a clock that steps forward takes no job from a proxy that is alive") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join(10s);
    store.enqueue(store.job(1));
    store.enqueue(store.job(2));
    REQUIRE(store.claim(epoch, 1).size() == 1);
    store.pass(30min);
    // The control: in a store that others share the clock is theirs too, and says that it has
    // ended.
    if (store.is_shared()) {
      CHECK(store.sweep().recovered == Ids{job_id(1)});
      return;
    }
    CHECK(store.sweep().recovered.empty());
    CHECK_FALSE(store.ask(Renew{epoch, 10s}).is_lost);
    CHECK(store.claim(epoch) == Ids{job_id(2)});
    CHECK(store.succeed(epoch, 1));
    CHECK(store.find(1)->progress.recoveries == 0);
    // It is the next process that ends it, and nothing else.
    store.end_proxies(10s);
    CHECK(store.ask(Renew{epoch, 10s}).is_lost);
    CHECK(store.sweep().recovered == Ids{job_id(2)});
  });
}

TEST_CASE("a clock that steps back keeps no job waiting that was due, and no other for longer") {
  for (const bool is_opened_again : {false, true}) {
    each_store([&](UnderTest& store) {
      if (store.is_shared()) return;  // its clock is the database's
      const Epoch epoch = store.join();
      for (const std::uint64_t n : {1, 2, 3}) store.enqueue(store.job(n));
      REQUIRE(store.claim(epoch, 1) == Ids{job_id(1)});
      REQUIRE(store.retry(epoch, 1, 5s));
      store.pass(-30min);
      if (is_opened_again && !store.reopen()) return;
      const Epoch next = store.join();
      CHECK(store.ask(Lanes{10}).found.size() == 1);
      CHECK(store.claim(next) == Ids{job_id(2), job_id(3)});
      CHECK(store.find(2)->accepted == store.now());
      CHECK(store.find(1)->progress.due == store.now() + 5s);
      store.pass(4s);
      CHECK(store.claim(next).empty());
      store.pass(1s);
      CHECK(store.claim(next) == Ids{job_id(1)});
    });
  }
}

TEST_CASE("a job that waited too long is not leased, and a sweep lets it expire") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join(24h);
    store.enqueue(store.job(1));
    store.enqueue(store.job(2));
    CHECK(store.claim(epoch, 1) == Ids{job_id(1)});
    store.pass(59min);
    CHECK(store.sweep().expired.empty());
    store.pass(1min);
    CHECK(store.claim(epoch).empty());
    CHECK(store.sweep().expired == Ids{job_id(2)});
    CHECK(store.state(2) == "expired");
    CHECK(store.find(2)->progress.cause == Cause::out_of_time);
    CHECK(store.state(1) == "leased");
  });
}

TEST_CASE("a job is forgotten when it was kept long enough after its end") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join(24h);
    store.enqueue(store.job(1));
    store.claim(epoch);
    store.succeed(epoch, 1);
    store.pass(59min);
    CHECK(store.sweep().forgotten == 0);
    store.pass(1min);
    CHECK(store.sweep().forgotten == 1);
    CHECK_FALSE(store.find(1));
    CHECK(store.count(JobState::succeeded) == 0);
  });
}

TEST_CASE("a sweep does no more of each than it is told to, and says that there is more") {
  each_store([](UnderTest& store) {
    store.join(24h);
    for (std::uint64_t n = 0; n < 5; ++n) store.enqueue(store.job(n));
    store.pass(2h);
    Sweep sweep = store.sweep(3);
    CHECK(sweep.expired.size() == 3);
    CHECK(sweep.has_more);
    sweep = store.sweep(3);
    CHECK(sweep.expired.size() == 2);
    CHECK_FALSE(sweep.has_more);
  });
}

TEST_CASE("what waits can be cancelled; what has begun or has ended cannot") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    for (const std::uint64_t n : {1, 2}) store.enqueue(store.job(n));
    Cancel cancel = store.ask(Cancel{job_id(1)});
    CHECK(cancel.is_done);
    CHECK(cancel.was == JobState::queued);
    CHECK(store.state(1) == "cancelled");
    CHECK(store.claim(epoch) == Ids{job_id(2)});
    cancel = store.ask(Cancel{job_id(2)});
    CHECK_FALSE(cancel.is_done);
    CHECK(cancel.was == JobState::leased);
    CHECK_FALSE(store.ask(Cancel{job_id(1)}).is_done);
    CHECK_FALSE(store.ask(Cancel{job_id(9)}).was);
  });
}

TEST_CASE("what a store has acknowledged is there after it was opened again") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    for (std::uint64_t n = 0; n < 5; ++n) store.enqueue(store.job(n));
    store.claim(epoch, 2);
    store.succeed(epoch, 0);
    if (!store.reopen()) return;
    CHECK(store.state(0) == "succeeded");
    CHECK(store.state(1) == "leased");
    CHECK(store.count(JobState::queued) == 3);
    CHECK(store.join() > epoch);
  });
}

}  // namespace spillway::store
