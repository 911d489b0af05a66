#include "overload/limit/limit_sampler.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>

#include "overload/signals/shard.hpp"

namespace spillway::overload {

using namespace std::chrono_literals;

TEST_CASE("no limit is found by a tick in which slow clients hold the slots and others are late") {
  SignalShard shard;
  const std::array<const SignalShard*, 1> shards{&shard};
  LimitSampler sampler;
  double slot_seconds = 0;
  TimePoint now{};
  const auto tick = [&](double running, std::uint32_t awaiting_client,
                        std::uint32_t behind_others) {
    now += 100ms;
    slot_seconds += running / 10;
    return sampler.take({.shards = shards,
                         .busy_slot_seconds = slot_seconds,
                         .concurrency = 64,
                         .awaiting_client = awaiting_client,
                         .behind_others = behind_others},
                        {}, now);
  };
  CHECK_FALSE(tick(20, 0, 0));  // nothing to compare with
  const auto is_held_up = [&](auto... load) {
    const auto sample = tick(load...);
    REQUIRE(sample);
    return sample->is_held_up;
  };
  CHECK_FALSE(is_held_up(20.0, 0u, 0u));
  CHECK_FALSE(is_held_up(20.0, 16u, 0u));  // a download site, and nothing is late
  CHECK(is_held_up(20.0, 16u, 1u));
  CHECK_FALSE(is_held_up(20.0, 4u, 4u));
  CHECK(is_held_up(20.0, 5u, 4u));  // it is at work for sixteen
  CHECK_FALSE(is_held_up(20.0, 2u, 18u));
  CHECK_FALSE(is_held_up(4.0, 1u, 1u));
  CHECK_FALSE(is_held_up(10.0, 0u, 11u));
  CHECK_FALSE(is_held_up(64.0, 3u, 61u));  // they hold up nothing
  CHECK_FALSE(is_held_up(64.0, 8u, 56u));
  CHECK(is_held_up(64.0, 9u, 55u));
  CHECK_FALSE(is_held_up(64.0, 9u, 10u));
}

// A law is to find the limit of all servers, and what it has learned holds when they are back.
TEST_CASE("while a server is lost what happens at the others counts for as many more") {
  SignalShard shard;
  const std::array<const SignalShard*, 1> shards{&shard};
  LimitSampler sampler;
  double slot_seconds = 0;
  TimePoint now{};
  const auto tick = [&](double running, const InRotation& rotation) {
    now += 100ms;
    slot_seconds += running / 10;
    for (int n = 0; n < 30; ++n) shard.record_result(false);
    for (int n = 0; n < 30; ++n) shard.record_admitted();
    return sampler.take({.shards = shards, .busy_slot_seconds = slot_seconds, .rotation = rotation},
                        {}, now);
  };
  CHECK_FALSE(tick(30, {.servers = 3, .in = 3}));
  CHECK(tick(30, {.servers = 3, .in = 3}));
  const auto whole = tick(30, {.servers = 3, .in = 3});
  REQUIRE(whole);
  CHECK(whole->slot_seconds == doctest::Approx(3));
  CHECK(whole->succeeded == 30);
  CHECK(whole->admitted == 30);
  CHECK(whole->released == doctest::Approx(30));
  CHECK_FALSE(whole->is_unsettled);

  // Five are still in flight at the lost one.
  int unsettled = 0;
  const InRotation two{.servers = 3, .in = 2, .elsewhere = 5, .part = 2.0 / 3};
  while (tick(25, two)->is_unsettled) ++unsettled;
  CHECK(unsettled == 5);  // half a second
  const auto lost = tick(25, two);
  REQUIRE(lost);
  CHECK(lost->slot_seconds == doctest::Approx(3));
  CHECK(lost->succeeded == doctest::Approx(45));
  CHECK(lost->admitted == doctest::Approx(45));
  CHECK(lost->released == doctest::Approx(45));
  CHECK_FALSE(lost->is_unsettled);
  // With reserved slots, or fewer slots than servers, the rest has more than its number says.
  CHECK(tick(25, {.servers = 3, .in = 2, .elsewhere = 5, .part = 0.75})->succeeded ==
        doctest::Approx(40));
  CHECK(tick(30, {.servers = 3, .in = 3})->is_unsettled);
}

// What a slow upstream shows in two seconds is too little to say whether clients stay.
TEST_CASE("where few requests are dispatched the last twenty say whether clients stay") {
  for (const int every : {2, 13}) {  // ticks: five a second, and hardly one
    CAPTURE(every);
    SignalShard shard;
    const std::array<const SignalShard*, 1> shards{&shard};
    LimitSampler sampler;
    TimePoint now{};
    double slot_seconds = 0;
    std::optional<LimitSample> last;
    const auto play = [&](int requests, bool stay) {
      for (int tick = 0; tick < requests * every; ++tick) {
        now += 100ms;
        slot_seconds += 0.4;
        if (tick % every == 0) {
          shard.record_admitted();
          if (stay) shard.record_result(false);
        }
        last = sampler.take({.shards = shards, .busy_slot_seconds = slot_seconds}, {}, now);
      }
    };
    play(10, true);
    CHECK_FALSE(last->answered);
    play(40, true);
    REQUIRE(last->answered);
    CHECK(last->are_few);
    CHECK(*last->answered > 0.8);
    play(40, false);
    REQUIRE(last->answered);
    CHECK(*last->answered < 0.5);
  }
}

TEST_CASE("where many are dispatched the last two seconds say whether clients stay") {
  SignalShard shard;
  const std::array<const SignalShard*, 1> shards{&shard};
  LimitSampler sampler;
  TimePoint now{};
  std::optional<LimitSample> last;
  const auto tick = [&](int requests) {
    now += 100ms;
    for (int n = 0; n < requests; ++n) shard.record_admitted();
    for (int n = 0; n < requests; ++n) shard.record_result(false);
    last = sampler.take({.shards = shards}, {}, now);
  };
  for (int n = 0; n < 300; ++n) tick(80);
  CHECK_FALSE(last->are_few);
  REQUIRE(last->answered);
  for (int n = 0; n < 150; ++n) tick(0);
  CHECK_FALSE(last->answered);
}

TEST_CASE(
    "the slots of the servers in rotation are those in use less what is in flight elsewhere") {
  CHECK(part_in_rotation(30, 0, 30) == 1);
  CHECK(part_in_rotation(20, 0, 30) == doctest::Approx(2.0 / 3));
  CHECK(part_in_rotation(25, 5, 30) == doctest::Approx(2.0 / 3));
  CHECK(part_in_rotation(30, 15, 30) == 0.5);
  CHECK(part_in_rotation(2, 0, 3) == doctest::Approx(2.0 / 3));  // of five servers, say
  CHECK(part_in_rotation(8, 10, 8) == doctest::Approx(1.0 / 8));
}

}  // namespace spillway::overload
