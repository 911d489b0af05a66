// What every store does: jobs that a proxy gives back without having tried them.
#include <doctest/doctest.h>

#include "unit/store/under_test.hpp"

namespace spillway::store {

using jobs::JobId;
using Ids = std::vector<JobId>;

TEST_CASE("a proxy that leaves gives its jobs back, uncounted") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    store.enqueue(store.job(1));
    store.claim(epoch);
    store.ask(Leave{epoch});
    CHECK(store.state(1) == "queued");
    CHECK(store.find(1)->progress.recoveries == 0);
    CHECK(store.claim(epoch).empty());
    CHECK(store.claim(store.join()) == Ids{job_id(1)});
  });
}

TEST_CASE("a proxy that does not know what it has claimed gives back all but what it knows of") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    for (std::uint64_t n = 1; n <= 3; ++n) store.enqueue(store.job(n));
    REQUIRE(store.claim(epoch).size() == 3);
    store.ask(Release{epoch, {job_id(2)}});
    CHECK(store.state(1) == "queued");
    CHECK(store.state(2) == "leased");
    CHECK(store.state(3) == "queued");
    CHECK(store.find(1)->progress.recoveries == 0);
    CHECK(store.succeed(epoch, 2));
    CHECK_FALSE(store.succeed(epoch, 1));
    CHECK(store.claim(epoch) == Ids{job_id(1), job_id(3)});  // it is a member as before
    store.ask(Release{epoch + 1, {}});
    CHECK_MESSAGE(store.state(1) == "leased", "what another has is not touched");
  });
}

TEST_CASE("what is given back keeps its place before what came later") {
  for (const bool leaves : {false, true}) {
    each_store([&](UnderTest& store) {
      const Epoch epoch = store.join();
      store.enqueue(store.job(1));
      store.pass(5s);
      store.enqueue(store.job(2));
      REQUIRE(store.claim(epoch, 1) == Ids{job_id(1)});
      store.pass(5s);
      if (leaves) {
        store.ask(Leave{epoch});
      } else {
        store.ask(Release{epoch, {}});
      }
      CHECK(store.find(1)->progress.due == store.find(1)->accepted);
      CHECK(store.find(1)->position == 1);
      CHECK(store.claim(leaves ? store.join() : epoch, 1) == Ids{job_id(1)});
    });
  }
}

TEST_CASE("what is given back once the clock was set back is due at once") {
  each_store([](UnderTest& store) {
    if (store.is_shared()) return;  // its clock is the database's
    const Epoch epoch = store.join();
    store.enqueue(store.job(1));
    REQUIRE(store.claim(epoch).size() == 1);
    store.pass(-30min);
    store.ask(Release{epoch, {}});
    CHECK(store.claim(epoch) == Ids{job_id(1)});
  });
}

}  // namespace spillway::store
