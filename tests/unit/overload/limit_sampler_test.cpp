#include "overload/limit_sampler.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>

#include "overload/shard.hpp"

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

}  // namespace spillway::overload
