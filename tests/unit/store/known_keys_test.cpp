// What every store does: a repeated request is told of the job of its Idempotency-Key, whatever has
// become of that.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "unit/store/under_test.hpp"

namespace spillway::store {
namespace {

using jobs::JobState;
using Result = Enqueue::Result;

enum class Fate : std::uint8_t { kept, forgotten, purged };

struct Ended {
  std::uint64_t n;
  JobState state;
  Fate fate;
};

constexpr JobState kEnds[] = {JobState::succeeded, JobState::dead, JobState::cancelled,
                              JobState::expired};
constexpr Fate kFates[] = {Fate::kept, Fate::forgotten, Fate::purged};

std::vector<Ended> all_ends() {
  std::vector<Ended> all;
  for (const JobState state : kEnds)
    for (const Fate fate : kFates) all.push_back({all.size() + 1, state, fate});
  return all;
}

// Request n, whose job has this number the first time that it comes.
jobs::NewJob keyed(const UnderTest& store, std::uint64_t n, std::uint64_t number,
                   std::uint8_t fingerprint = 1) {
  jobs::NewJob job = store.job(number);
  job.idempotency = jobs::IdempotencyKey{{static_cast<std::uint8_t>(n)}, {fingerprint}};
  return job;
}

// Each has come to its end, and to what is left of it after that.
void end_all(UnderTest& store, const std::vector<Ended>& all) {
  const Epoch epoch = store.join(10000h);
  for (const Ended& each : all) {
    jobs::NewJob job = keyed(store, each.n, each.n);
    job.kept = each.fate == Fate::forgotten ? 1min : 24h * 30;
    if (each.state == JobState::expired) job.lane.route = "mails";
    REQUIRE(store.enqueue(job).result == Result::accepted);
    if (each.state == JobState::expired) continue;
    if (each.state == JobState::cancelled) {
      REQUIRE(store.ask(Cancel{job_id(each.n)}).is_done);
      continue;
    }
    REQUIRE(store.claim(epoch) == std::vector{job_id(each.n)});
    REQUIRE(
        (each.state == JobState::dead ? store.die(epoch, each.n) : store.succeed(epoch, each.n)));
  }
  store.pass(1h);
  store.sweep();
  store.pass(2min);
  store.sweep();
  for (const Ended& each : all)
    if (each.fate == Fate::purged)
      REQUIRE(store.ask(Purge{.filter = {.id = job_id(each.n)}, .limit = 1}).count == 1);
}

// So are requests that come again: `number` is that of a job that is not made.
void check_told(UnderTest& store, const Ended& each, std::uint64_t number) {
  CAPTURE(jobs::name(each.state));
  CAPTURE(index(each.fate));
  CHECK(store.ask(KnowsKey{.scope = {static_cast<std::uint8_t>(each.n)}}).is_known);
  const Enqueue again = store.enqueue(keyed(store, each.n, number));
  CHECK(again.result == Result::duplicate);
  CHECK(again.id == job_id(each.n));
  CHECK(store.enqueue(keyed(store, each.n, number, 2)).result == Result::mismatch);
  CHECK_FALSE(store.find(number));
}

}  // namespace

TEST_CASE("a repeated request is told of its job, be that done, dead, cancelled, expired or gone") {
  each_store([](UnderTest& store) {
    const std::vector<Ended> all = all_ends();
    end_all(store, all);
    for (const Ended& each : all) {
      check_told(store, each, each.n + 100);
      CHECK(store.state(each.n) == (each.fate == Fate::kept ? name(each.state) : ""));
    }
    store.pass(22h);
    store.sweep();
    for (const Ended& each : all) check_told(store, each, each.n + 200);
  });
}

TEST_CASE("the key of a job that was purged is known as long as if it had been kept") {
  each_store([](UnderTest& store) {
    const std::vector<Ended> all = all_ends();
    end_all(store, all);
    for (const auto days : {2, 20}) {
      store.pass(24h * days);
      store.sweep();
      store.sweep();
      for (const Ended& each : all)
        if (each.fate != Fate::forgotten) check_told(store, each, each.n + 100);
    }
  });
}

TEST_CASE("control: once its time is over the same request is a new job") {
  each_store([](UnderTest& store) {
    const std::vector<Ended> all = all_ends();
    end_all(store, all);
    store.pass(24h * 31);
    for (int n = 0; n < 5; ++n) store.sweep();
    for (const Ended& each : all) {
      CAPTURE(each.n);
      CHECK_FALSE(store.ask(KnowsKey{.scope = {static_cast<std::uint8_t>(each.n)}}).is_known);
      const Enqueue again = store.enqueue(keyed(store, each.n, each.n + 100));
      CHECK(again.result == Result::accepted);
      CHECK(again.id == job_id(each.n + 100));
    }
  });
}

}  // namespace spillway::store
