// What every store does: a command goes through so much content at a time (kStepBytes).
#include <doctest/doctest.h>

#include "unit/store/under_test.hpp"

namespace spillway::store {

namespace {

constexpr std::size_t kLong = 1 << 20;
constexpr std::uint64_t kJobs = 12;
constexpr std::uint64_t kStep = kStepBytes / kLong;  // jobs; their heads count, too

// Dead from the beginning, but for the first, which is not long.
void bury(UnderTest& store) {
  std::vector<Command> letters;
  for (std::uint64_t n = 0; n <= kJobs; ++n) {
    Bury bury{.job = store.job(n), .cause = jobs::Cause::expired_in_queue};
    if (n > 0) bury.job.body = std::string(kLong, 'b');
    letters.emplace_back(std::move(bury));
  }
  store.execute(letters);
}

}  // namespace

TEST_CASE("what is forgotten is deleted in steps, and all of it") {
  each_store([](UnderTest& store) {
    bury(store);
    store.pass(1h);
    std::uint64_t forgotten = 0;
    std::size_t steps = 0;
    Sweep sweep;
    do {
      sweep = store.sweep();
      if (!store.is_shared()) CHECK(sweep.forgotten <= kStep + 1);
      forgotten += sweep.forgotten;
      REQUIRE(++steps <= kJobs);
    } while (sweep.has_more);
    CHECK(forgotten == kJobs + 1);
    if (!store.is_shared()) CHECK(steps >= kJobs / kStep);
    CHECK_FALSE(store.find(0));
    CHECK_FALSE(store.find(kJobs));
  });
}

TEST_CASE("a purge deletes in steps, and all of it; a dry run looks at all at once") {
  each_store([](UnderTest& store) {
    bury(store);
    Purge purge{.limit = 100, .is_dry_run = true};
    CHECK(store.ask(purge).count == kJobs + 1);
    purge.is_dry_run = false;
    std::uint64_t purged = 0;
    std::size_t steps = 0;
    do {
      purge = store.ask(purge);
      CHECK(purge.count <= kStep + 1);
      purge.after = purge.next;
      purged += purge.count;
      REQUIRE(++steps <= kJobs);
    } while (purge.next);
    CHECK(purged == kJobs + 1);
    CHECK_FALSE(store.find(0));
    CHECK_FALSE(store.find(kJobs));
  });
}

TEST_CASE("a claim ends with so much content, and says that there may be more") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join(24h);
    const jobs::Lane other{3, "orders", TenantId{2}};
    for (std::uint64_t n = 0; n < kJobs; ++n) {
      jobs::NewJob job = store.job(n);
      job.body = std::string(kLong, 'b');
      store.enqueue(job);
    }
    jobs::NewJob job = store.job(kJobs);
    job.lane = other;
    store.enqueue(job);
    const Claim first = store.ask(Claim{epoch, store.job(0).lane, 16});
    CHECK(first.is_cut);
    REQUIRE(first.jobs.size() == kStep);
    CHECK(first.jobs.front().id == job_id(0));
    CHECK(first.jobs.back().id == job_id(kStep - 1));
    const Claim of_other = store.ask(Claim{epoch, other, 16});
    CHECK_FALSE(of_other.is_cut);
    CHECK(of_other.jobs.size() == 1);
    const Claim second = store.ask(Claim{epoch, store.job(0).lane, 3});
    CHECK_MESSAGE(second.jobs.size() == 3, "as many as were asked for");
    CHECK_FALSE(second.is_cut);
    CHECK(store.claim(epoch, 16).size() == kStep);
    const Claim last = store.ask(Claim{epoch, store.job(0).lane, 16});
    CHECK(last.jobs.size() == kJobs - 3 - 2 * kStep);
    CHECK_FALSE(last.is_cut);
  });
}

TEST_CASE("claims of one batch end with so much content together; what is left out is not empty") {
  each_store([](UnderTest& store) {
    constexpr std::uint64_t kLanes = 16, kOfEach = 2;
    constexpr std::size_t kBody = kLong / 2;
    const Epoch epoch = store.join(24h);
    std::vector<std::uint64_t> left(kLanes, kOfEach);
    for (std::uint64_t n = 0; n < kLanes * kOfEach; ++n) {
      jobs::NewJob job = store.job(n);
      job.lane.tenant = TenantId{n % kLanes};
      job.body = std::string(kBody, 'b');
      store.enqueue(job);
    }
    std::uint64_t claimed = 0;
    for (std::uint64_t batches = 0; claimed < kLanes * kOfEach; ++batches) {
      REQUIRE_MESSAGE(batches < kLanes * kOfEach, "each claims some");
      std::vector<Command> batch;
      for (std::uint64_t n = 0; n < kLanes; ++n)
        batch.emplace_back(Claim{epoch, {3, "orders", TenantId{n}}, 16});
      store.execute(batch);
      std::uint64_t bytes = 0;
      for (std::uint64_t n = 0; n < kLanes; ++n) {
        const Claim& claim = std::get<Claim>(batch[n]);
        claimed += claim.jobs.size();
        left[n] -= claim.jobs.size();
        for (const jobs::LeasedJob& job : claim.jobs) bytes += job.head.size() + job.body.size();
        CAPTURE(batches);
        CAPTURE(n);
        CHECK((claim.is_cut || left[n] == 0));
      }
      // Each ends with a job: of a shared store that of each lane.
      const std::uint64_t last_ones = store.is_shared() ? kLanes : 1;
      CHECK(bytes < kStepBytes + last_ones * (kBody + 1000));
    }
    const Claim after = store.ask(Claim{epoch, {3, "orders", TenantId{1}}, 16});
    CHECK(after.jobs.empty());
    CHECK_MESSAGE(!after.is_cut, "this one is empty");
  });
}

TEST_CASE("a job that is longer than a step is claimed by itself") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join(24h);
    for (std::uint64_t n = 0; n < 2; ++n) {
      jobs::NewJob job = store.job(n);
      job.body = std::string(kStepBytes + 1, 'b');
      store.enqueue(job);
    }
    CHECK(store.claim(epoch, 16) == std::vector{job_id(0)});
    CHECK(store.claim(epoch, 16) == std::vector{job_id(1)});
  });
}

TEST_CASE("answers count in a step as requests do") {
  each_store([](UnderTest& store) {
    if (store.is_shared()) return;  // answers go with their period
    const Epoch epoch = store.join(24h);
    for (std::uint64_t n = 0; n < kJobs; ++n) store.enqueue(store.job(n));
    REQUIRE(store.claim(epoch, kJobs).size() == kJobs);
    for (std::uint64_t n = 0; n < kJobs; ++n) {
      Settle settle{.epoch = epoch, .id = job_id(n), .progress = {}, .attempt = {}, .answer = {}};
      settle.progress = {jobs::JobState::succeeded, store.now(), 1, 0,
                         jobs::Cause::answered,     store.now()};
      settle.answer = jobs::StoredAnswer{200, "", std::string(kLong, 'a'), false};
      REQUIRE_FALSE(store.ask(settle).is_lost);
    }
    store.pass(1h);
    CHECK(store.sweep().forgotten == kStep);
  });
}

}  // namespace spillway::store
