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
      if (!store.is_shared()) CHECK(purge.count <= kStep + 1);
      purge.after = purge.next;
      purged += purge.count;
      REQUIRE(++steps <= kJobs);
    } while (purge.next);
    CHECK(purged == kJobs + 1);
    CHECK_FALSE(store.find(0));
    CHECK_FALSE(store.find(kJobs));
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
