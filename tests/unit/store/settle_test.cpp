// The end of an attempt that is told twice: nobody knows whether the first time was written.
#include <doctest/doctest.h>

#include <vector>

#include "unit/store/under_test.hpp"

namespace spillway::store {

using jobs::Cause;
using jobs::JobState;

namespace {

Settle settle_of(UnderTest& store, Epoch epoch, std::uint64_t n, JobState state) {
  Settle settle;
  settle.epoch = epoch;
  settle.id = job_id(n);
  settle.progress = {state, store.now(), 1, 0, Cause::answered};
  if (jobs::has_ended(state)) settle.progress.ended = store.now();
  settle.attempt = jobs::Attempt{1, store.now(), store.now(), Cause::answered, 200, ""};
  return settle;
}

}  // namespace

TEST_CASE("an end that is sent again is not lost if it was written, and is written once") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    std::vector<Settle> settled;
    for (const auto state : {JobState::succeeded, JobState::dead, JobState::retrying}) {
      CAPTURE(jobs::name(state));
      const auto n = static_cast<std::uint64_t>(index(state));
      store.enqueue(store.job(n));
      REQUIRE(store.claim(epoch).size() == 1);
      Settle settle = settle_of(store, epoch, n, state);
      if (state == JobState::retrying) settle.progress.due += 1min;
      REQUIRE_FALSE(store.ask(settle).is_lost);
      CHECK_MESSAGE(store.ask(settle).is_lost, "a late one of which nothing was said");
      settle.is_sent_again = true;
      CHECK_FALSE(store.ask(settle).is_lost);
      Inspect inspect;
      inspect.id = job_id(n);
      CHECK(store.ask(inspect).attempts.size() == 1);
      settled.push_back(settle);
    }
    if (!store.reopen()) return;
    for (const Settle& settle : settled) CHECK_FALSE(store.ask(settle).is_lost);
  });
}

TEST_CASE("an end that is sent again and was not written is written then") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    store.enqueue(store.job(1));
    REQUIRE(store.claim(epoch).size() == 1);
    Settle settle = settle_of(store, epoch, 1, JobState::succeeded);
    settle.is_sent_again = true;
    CHECK_FALSE(store.ask(settle).is_lost);
    CHECK(store.state(1) == "succeeded");
  });
}

TEST_CASE("an end that is sent again is lost where the job stands otherwise") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join();
    Settle settle = settle_of(store, epoch, 1, JobState::succeeded);
    settle.is_sent_again = true;
    CHECK_MESSAGE(store.ask(settle).is_lost, "there is no such job");
    store.enqueue(store.job(1));
    CHECK_MESSAGE(store.ask(settle).is_lost, "it waits");
    store.claim(epoch);
    store.die(epoch, 1);
    CHECK_MESSAGE(store.ask(settle).is_lost, "it has another end");
    CHECK(store.state(1) == "dead");
    store.enqueue(store.job(2));
    store.claim(epoch);
    store.succeed(epoch, 2);
    settle.id = job_id(2);
    CHECK_FALSE(store.ask(settle).is_lost);
    settle.progress.ended += 1ms;
    CHECK_MESSAGE(store.ask(settle).is_lost, "another attempt has had the same end");
    settle.progress.ended -= 1ms;
    settle.progress.recoveries = 1;
    CHECK_MESSAGE(store.ask(settle).is_lost, "it was recovered before");
  });
}

}  // namespace spillway::store
