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
  CHECK_FALSE(is_held_up(20.0, 16u, 2u));
  CHECK(is_held_up(20.0, 16u, 3u));  // all the others but one are
  CHECK_FALSE(is_held_up(20.0, 6u, 7u));
  CHECK(is_held_up(20.0, 6u, 8u));         // most of the others are
  CHECK_FALSE(is_held_up(20.0, 5u, 15u));  // they hold up nothing
  CHECK_FALSE(is_held_up(10.0, 2u, 8u));   // a few, in a pause of the upstream
  CHECK_FALSE(is_held_up(10.0, 0u, 11u));
  CHECK_FALSE(is_held_up(64.0, 16u, 48u));
  CHECK(is_held_up(64.0, 17u, 47u));
  CHECK_FALSE(is_held_up(64.0, 17u, 23u));
}

}  // namespace spillway::overload
