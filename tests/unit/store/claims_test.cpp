// What every store does: several claims in one batch.
#include <doctest/doctest.h>

#include "unit/store/under_test.hpp"

namespace spillway::store {

using jobs::Cause;
using jobs::JobId;
using jobs::JobState;
using Ids = std::vector<JobId>;

TEST_CASE("claims of one batch are answered each by itself, a lane's second one after its first") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    const Epoch other = store.is_shared() ? store.join() : epoch;
    const auto lane = [&](std::uint64_t n) { return jobs::Lane{3, "orders", TenantId{n}}; };
    for (std::uint64_t n = 0; n < 12; ++n) {
      jobs::NewJob job = store.job(n);
      job.lane = lane(n % 3);
      if (n % 3 == 2) job.order = jobs::Digest{2};
      store.enqueue(job);
    }
    std::vector<Command> batch{Claim{epoch, lane(1), 3}, Claim{epoch, lane(0), 2},
                               Claim{epoch, lane(9), 5}, Claim{epoch, lane(0), 2},
                               Claim{epoch, lane(2), 5}, Claim{other, lane(1), 5}};
    store.execute(batch);
    std::vector<Ids> ids(batch.size());
    for (std::size_t n = 0; n < batch.size(); ++n)
      for (const jobs::LeasedJob& job : std::get<Claim>(batch[n]).jobs) {
        ids[n].push_back(job.id);
        CHECK(job.lane == std::get<Claim>(batch[n]).lane);
      }
    CHECK(ids[0] == Ids{job_id(1), job_id(4), job_id(7)});
    CHECK(ids[1] == Ids{job_id(0), job_id(3)});
    CHECK(ids[2].empty());
    CHECK(ids[3] == Ids{job_id(6), job_id(9)});
    CHECK_MESSAGE(ids[4] == Ids{job_id(2)}, "the others of its order wait for it");
    CHECK(ids[5] == Ids{job_id(10)});
    if (store.is_shared()) CHECK_FALSE(store.succeed(epoch, 10));
    CHECK(store.succeed(other, 10));
    CHECK(store.succeed(epoch, 2));
    CHECK(store.claim(epoch, lane(2), 5) == Ids{job_id(5)});
  });
}

TEST_CASE("a claim finds what the same batch has settled and accepted before it") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    store.enqueue(store.job(1));
    REQUIRE(store.claim(epoch).size() == 1);
    jobs::NewJob other = store.job(2);
    other.lane.tenant = TenantId{2};
    Settle back;
    back.epoch = epoch;
    back.id = job_id(1);
    back.progress = {JobState::retrying, store.now(), 1, 0, Cause::failed};
    std::vector<Command> batch{Claim{epoch, other.lane, 5}, back,
                               Enqueue{.job = other, .max_pending = 9}, Claim{epoch, other.lane, 5},
                               Claim{epoch, store.job(1).lane, 5}};
    store.execute(batch);
    CHECK_MESSAGE(std::get<Claim>(batch[0]).jobs.empty(), "before it was accepted");
    CHECK(std::get<Claim>(batch[3]).jobs.size() == 1);
    CHECK(std::get<Claim>(batch[4]).jobs.size() == 1);
  });
}

}  // namespace spillway::store
