// What proxies on a store tell each other of the caps of routes.
#include <doctest/doctest.h>

#include "unit/store/contract.hpp"
#include "unit/store/postgres_fleet.hpp"

namespace spillway::store {
namespace {

using jobs::CapId;
using jobs::CapKind;
using jobs::CapParts;

const CapParts kOne{{{"export", CapKind::concurrency}, {3, true}},
                    {{"export", CapKind::rate}, {2'500'000, true}}};
const CapParts kTwo{{{"export", CapKind::concurrency}, {1, false}}};

Renew renewal(Epoch epoch, const CapParts& parts, std::int64_t number = 0) {
  return {.epoch = epoch, .lease = 10s, .number = number, .parts = parts};
}

}  // namespace

TEST_CASE("one that is alone on its store is told of no others") {
  each_store([](UnderTest& store) {
    const Epoch epoch = store.join(10s);
    for (int n = 0; n < 2; ++n) CHECK(store.ask(renewal(epoch, kOne)).others.empty());
  });
}

TEST_CASE("each proxy is told what the others hold of caps, until they are held to have ended") {
  Fleet fleet;
  UnderTest& first = fleet.first;
  const Epoch one = first.join(10s);
  const Epoch two = fleet.ask_second(Join{"two", 10s}).epoch;
  using Others = jobs::CapShares::Others;
  CHECK(first.ask(renewal(one, kOne)).others.empty());
  CHECK(fleet.ask_second(renewal(two, kTwo)).others == Others{{one, kOne}});
  CHECK(first.ask(renewal(one, {})).others == Others{{two, kTwo}});
  CHECK(fleet.ask_second(renewal(two, kTwo)).others.empty());
  CHECK(first.ask(renewal(one, kOne)).others == Others{{two, kTwo}});
  // Its lease is over, but it may have jobs under way.
  first.pass(10s);
  CHECK(first.ask(renewal(one, kOne)).others == Others{{two, kTwo}});
  first.sweep();
  CHECK(first.ask(renewal(one, kOne)).others.empty());
  CHECK(fleet.ask_second(renewal(two, kTwo)).is_lost);
}

TEST_CASE("one that leaves, or registers anew with nothing in hand, holds nothing from then on") {
  Fleet fleet;
  UnderTest& first = fleet.first;
  const Epoch one = first.join(10s);
  const Epoch two = fleet.ask_second(Join{"two", 10s}).epoch;
  fleet.ask_second(renewal(two, kTwo));
  REQUIRE(first.ask(renewal(one, kOne)).others.size() == 1);
  first.enqueue(first.job(1));
  REQUIRE(fleet.ask_second(Claim{two, first.job(1).lane, 1}).jobs.size() == 1);
  const Join again = fleet.ask_second(Join{.name = "two", .lease = 10s, .former = two});
  CHECK(first.ask(renewal(one, kOne)).others.empty());
  CHECK(fleet.ask_second(renewal(two, kTwo)).is_lost);
  CHECK_MESSAGE(first.sweep().recovered == Ids{job_id(1)}, "of an answer that it never got");
  fleet.ask_second(renewal(again.epoch, kTwo));
  CHECK(first.ask(renewal(one, kOne)).others.size() == 1);
  fleet.ask_second(Leave{again.epoch});
  CHECK(first.ask(renewal(one, kOne)).others.empty());
}

TEST_CASE("a renewal that reaches the store after a later one changes nothing") {
  Fleet fleet;
  UnderTest& first = fleet.first;
  const Epoch one = first.join(10s);
  const Epoch two = fleet.ask_second(Join{"two", 10s}).epoch;
  CHECK_FALSE(first.ask(renewal(one, kOne, 8)).is_lost);
  CHECK_FALSE(first.ask(renewal(one, kOne, 8)).is_lost);
  CHECK(first.ask(renewal(one, kTwo, 7)).is_lost);
  CHECK(fleet.ask_second(renewal(two, {})).others.at(one) == kOne);
  CHECK_FALSE(first.ask(renewal(one, kTwo, 9)).is_lost);
  CHECK(fleet.ask_second(renewal(two, {})).others.at(one) == kTwo);
}

}  // namespace spillway::store
