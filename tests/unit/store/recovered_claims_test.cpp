// What every store does: a claim that leaves jobs which were recovered often.
#include <doctest/doctest.h>

#include "unit/store/under_test.hpp"

namespace spillway::store {

using jobs::JobId;
using Ids = std::vector<JobId>;
using Left = std::optional<std::uint32_t>;

namespace {

// All that wait are in the hand of a proxy that ends.
void end_with_all(UnderTest& store) {
  REQUIRE(store.claim(store.join(10s), 100).size() > 0);
  store.end_proxies(10s);
  REQUIRE(store.sweep().recovered.size() > 0);
}

// Job n was recovered n times, 3 the first and 1 the last in their lane; 0 has come since.
void fill(UnderTest& store) {
  for (std::uint64_t n = 3; n > 0; --n) {
    store.enqueue(store.job(n));
    end_with_all(store);
  }
  store.pass(1s);
  store.enqueue(store.job(0));
  for (std::uint64_t n = 0; n < 4; ++n) REQUIRE(store.find(n)->progress.recoveries == n);
}

Claim claim(UnderTest& store, Epoch epoch, std::size_t limit, std::uint32_t most_recoveries) {
  return store.ask(Claim{.epoch = epoch,
                         .lane = store.job(0).lane,
                         .limit = limit,
                         .most_recoveries = most_recoveries});
}

}  // namespace

TEST_CASE("a claim leaves jobs with more recoveries than it is to have, and tells that it did") {
  each_store([](UnderTest& store) {
    fill(store);
    const Epoch epoch = store.join();
    const Claim few = claim(store, epoch, 10, 1);
    CHECK(ids_of(few) == Ids{job_id(1), job_id(0)});
    CHECK(few.least_left == Left{2});
    CHECK(store.state(2) == "retrying");
    CHECK(store.find(2)->progress.recoveries == 2);
    const Claim none = claim(store, epoch, 10, 0);
    CHECK(none.jobs.empty());
    CHECK(none.least_left == Left{2});
    const Claim more = claim(store, epoch, 10, 2);
    CHECK(ids_of(more) == Ids{job_id(2)});
    CHECK(more.least_left == Left{3});
    const Claim all = claim(store, epoch, 10, 3);
    CHECK(ids_of(all) == Ids{job_id(3)});
    CHECK(all.least_left == Left{});
    CHECK(claim(store, epoch, 10, 0).least_left == Left{});
  });
}

TEST_CASE("a claim without that bound takes jobs as they are due: negative control") {
  each_store([](UnderTest& store) {
    fill(store);
    const Epoch epoch = store.join();
    const Claim all = store.ask(Claim{epoch, store.job(0).lane, 3});
    CHECK(ids_of(all) == Ids{job_id(3), job_id(2), job_id(1)});
    CHECK(all.least_left == Left{});
  });
}

TEST_CASE("a claim tells of jobs that it left before the last one that it took, and of no others") {
  each_store([](UnderTest& store) {
    store.enqueue(store.job(8));
    store.pass(1s);
    const Epoch first = store.join(10s);
    store.enqueue(store.job(9));
    REQUIRE(store.claim(first).size() == 2);
    REQUIRE(store.settle(first, 8, {jobs::JobState::queued, store.find(8)->accepted}));
    store.end_proxies(10s);
    REQUIRE(store.sweep().recovered == Ids{job_id(9)});
    store.pass(1s);
    store.enqueue(store.job(7));
    store.enqueue(store.job(6));
    // 8 as it was, 9 recovered once, 7 and 6.
    const Epoch epoch = store.join();
    const Claim before = claim(store, epoch, 1, 0);
    CHECK(ids_of(before) == Ids{job_id(8)});
    CHECK(before.least_left == Left{});
    const Claim behind = claim(store, epoch, 1, 0);
    CHECK(ids_of(behind) == Ids{job_id(7)});
    if (!store.is_shared()) CHECK(behind.least_left == Left{1});  // else it may be late
    CHECK(ids_of(claim(store, epoch, 5, 0)) == Ids{job_id(6)});
  });
}

TEST_CASE("jobs that are known to be left are told and found at once while claims go on behind") {
  each_store([](UnderTest& store) {
    fill(store);
    const Epoch epoch = store.join();
    CHECK(claim(store, epoch, 1, 1).least_left == Left{2});
    for (std::uint64_t n = 10; n < 14; ++n) {
      store.pass(1s);
      store.enqueue(store.job(n));
      const Claim behind = claim(store, epoch, 1, 1);
      CHECK(ids_of(behind) == Ids{job_id(n == 10 ? 0 : n - 1)});
      CHECK(behind.least_left == Left{2});
    }
    CHECK(ids_of(claim(store, epoch, 1, 3)) == Ids{job_id(3)});
    CHECK(claim(store, epoch, 1, 1).least_left == Left{2});
    CHECK(ids_of(claim(store, epoch, 1, 2)) == Ids{job_id(2)});
  });
}

TEST_CASE("what a proxy recovers while it claims is told to be left by its next claim") {
  each_store([](UnderTest& store) {
    const Epoch ended = store.join(10s);
    store.enqueue(store.job(1));
    REQUIRE(store.claim(ended).size() == 1);
    store.end_proxies(10s);
    const Epoch epoch = store.join();
    store.enqueue(store.job(2));
    store.enqueue(store.job(3));
    CHECK(claim(store, epoch, 1, 0).least_left == Left{});
    REQUIRE(store.sweep().recovered.size() == 1);
    store.pass(1s);
    store.enqueue(store.job(4));
    const Claim next = claim(store, epoch, 2, 0);
    CHECK(next.jobs.size() == 2);
    CHECK(next.least_left == Left{1});
  });
}

TEST_CASE("jobs that could not be claimed whatever their recoveries are not told to be left") {
  each_store([](UnderTest& store) {
    jobs::NewJob next = store.job(2), other = store.job(3), late = store.job(4);
    next.order = jobs::Digest{1};
    jobs::NewJob first = store.job(1);
    first.order = next.order;
    other.lane.tenant = TenantId{7};
    late.expires = store.now() + 30s;
    for (const jobs::NewJob& job : {first, next, other, late}) store.enqueue(job);
    const Epoch ended = store.join(10s);
    REQUIRE(store.claim(ended).size() == 2);
    REQUIRE(store.claim(ended, other.lane, 10).size() == 1);
    store.end_proxies(10s);
    REQUIRE(store.sweep().recovered.size() == 3);
    store.pass(30s);  // the late one expires, and is not swept
    const Epoch epoch = store.join();
    REQUIRE(store.claim(epoch, 1) == Ids{job_id(1)});
    CHECK_MESSAGE(claim(store, epoch, 10, 0).least_left == Left{}, "blocked, another's, expired");
    const jobs::WallTime later = store.now() + 10s;
    REQUIRE(store.settle(epoch, 1, {jobs::JobState::retrying, later, 0, 1}));
    CHECK_MESSAGE(claim(store, epoch, 10, 0).least_left == Left{}, "it is not due");
    store.pass(10s);
    if (!store.is_shared()) CHECK(claim(store, epoch, 10, 0).least_left == Left{1});
    CHECK_MESSAGE(claim(store, epoch + 1, 10, 0).least_left == Left{}, "another's claim");
  });
}

TEST_CASE("claims of one batch have a bound each") {
  each_store([](UnderTest& store) {
    fill(store);
    const Epoch epoch = store.join();
    jobs::NewJob other = store.job(5);
    other.lane.tenant = TenantId{2};
    store.enqueue(other);
    const jobs::Lane lane = store.job(0).lane;
    std::vector<Command> batch{
        Claim{.epoch = epoch, .lane = lane, .limit = 1, .most_recoveries = 2},
        Claim{.epoch = epoch, .lane = other.lane, .limit = 5, .most_recoveries = 0},
        Claim{.epoch = epoch, .lane = lane, .limit = 5, .most_recoveries = 0},
        Claim{.epoch = epoch, .lane = lane, .limit = 5, .most_recoveries = 3}};
    store.execute(batch);
    const auto at = [&](std::size_t n) { return std::get<Claim>(batch[n]); };
    CHECK(ids_of(at(0)) == Ids{job_id(2)});
    CHECK(at(0).least_left == Left{3});
    CHECK(ids_of(at(1)) == Ids{job_id(5)});
    CHECK(at(1).least_left == Left{});
    CHECK(ids_of(at(2)) == Ids{job_id(0)});
    CHECK(at(2).least_left == Left{1});
    CHECK(ids_of(at(3)) == Ids{job_id(3), job_id(1)});
    CHECK(at(3).least_left == Left{});
  });
}

}  // namespace spillway::store
