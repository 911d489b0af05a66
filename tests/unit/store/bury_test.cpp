// What every store does with a request that is kept for the operator only.
#include <doctest/doctest.h>

#include "unit/store/under_test.hpp"

namespace spillway::store {

using jobs::Cause;
using jobs::JobState;
using Ids = std::vector<jobs::JobId>;

namespace {

constexpr std::chrono::milliseconds kDay = 24h;

Bury letter(jobs::NewJob job) { return {std::move(job), Cause::expired_in_queue}; }

}  // namespace

TEST_CASE("what is buried is dead at once, listed, inspected as it came, and never claimed") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    store.ask(letter(store.job(1)));
    store.ask(letter(store.job(1)));  // the same one, sent again after a failure
    CHECK(store.count(JobState::dead) == 1);
    CHECK(store.count(JobState::queued) == 0);
    CHECK(store.claim(epoch).empty());
    const auto found = store.find(1);
    REQUIRE(found);
    CHECK(found->progress.cause == Cause::expired_in_queue);
    CHECK(found->progress.attempts == 0);
    CHECK(found->progress.ended != jobs::kNoTime);
    List list{.filter = {.state = JobState::dead, .cause = Cause::expired_in_queue}, .limit = 9};
    CHECK(store.ask(list).jobs.size() == 1);
    list.filter.cause = Cause::rejected;
    CHECK(store.ask(list).jobs.empty());
    const Inspect inspect = store.ask(Inspect{.id = job_id(1), .body_limit = 100});
    CHECK(inspect.head == store.job(1).head);
    CHECK(inspect.body == "order 1");
    CHECK(inspect.attempts.empty());
    CHECK(store.ask(Cancel{job_id(1)}).was == JobState::dead);
  });
}

TEST_CASE("a buried request is replayed like any other that is dead, and forgotten like it") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join(kDay);
    store.ask(letter(store.job(1)));
    store.ask(letter(store.job(2)));
    const Replay replay =
        store.ask(Replay{.filter = {.id = job_id(1)}, .limit = 1, .ttl = kDay, .jobs = {}});
    CHECK(replay.jobs == Ids{job_id(1)});
    CHECK(store.claim(epoch) == Ids{job_id(1)});
    CHECK(store.succeed(epoch, 1));
    store.pass(1h + 1min);
    store.sweep();
    CHECK_FALSE(store.find(2));
  });
}

TEST_CASE("a buried request keeps neither its Idempotency-Key nor its place in an order") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    jobs::NewJob job = store.job(1);
    job.idempotency = jobs::IdempotencyKey{{7}, {1}};
    job.order = jobs::Digest{5};
    store.ask(letter(job));
    job.id = job_id(2);
    CHECK(store.enqueue(job).result == Enqueue::Result::accepted);
    // negative control: a job that was accepted does keep both
    job.id = job_id(3);
    CHECK(store.enqueue(job).result == Enqueue::Result::duplicate);
    job.idempotency.reset();
    CHECK(store.enqueue(job).result == Enqueue::Result::accepted);
    CHECK(store.claim(epoch) == Ids{job_id(2)});
    // What is replayed comes into its order again.
    store.ask(Replay{.filter = {.id = job_id(1)}, .limit = 1, .ttl = kDay, .jobs = {}});
    CHECK(store.claim(epoch).empty());
    CHECK(store.succeed(epoch, 2));
    CHECK(store.claim(epoch).size() == 1);
  });
}

TEST_CASE("what is buried lets no job of its order go before its turn") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    jobs::NewJob job = store.job(1);
    job.order = jobs::Digest{5};
    store.enqueue(job);
    CHECK(store.claim(epoch) == Ids{job_id(1)});
    CHECK(store.die(epoch, 1));
    job.id = job_id(2);
    store.enqueue(job);
    CHECK(store.claim(epoch) == Ids{job_id(2)});
    store.ask(Replay{.filter = {.id = job_id(1)}, .limit = 1, .ttl = kDay, .jobs = {}});
    job.id = job_id(3);
    store.ask(letter(job));
    CHECK(store.claim(epoch).empty());  // 2 is at work
    CHECK(store.succeed(epoch, 2));
    CHECK(store.claim(epoch) == Ids{job_id(1)});
  });
}

TEST_CASE("buried requests and accepted ones of one batch do not meet") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    std::vector<Command> batch;
    for (std::uint64_t n = 1; n <= 6; ++n) {
      if (n % 2 == 0) {
        batch.emplace_back(letter(store.job(n)));
      } else {
        batch.emplace_back(Enqueue{.job = store.job(n), .max_pending = 10});
      }
    }
    store.execute(batch);
    CHECK(store.claim(epoch) == Ids{job_id(1), job_id(3), job_id(5)});
    CHECK(store.count(JobState::dead) == 3);
  });
}

}  // namespace spillway::store
