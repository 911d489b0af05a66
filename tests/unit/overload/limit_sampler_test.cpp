#include "overload/limit_sampler.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>

#include "overload/shard.hpp"

namespace spillway::overload {

using namespace std::chrono_literals;

TEST_CASE("a tick says nothing of the upstream where many slots wait for slow clients") {
  SignalShard shard;
  const std::array<const SignalShard*, 1> shards{&shard};
  LimitSampler sampler;
  double slot_seconds = 0;
  TimePoint now{};
  const auto tick = [&](std::uint32_t awaiting_client, std::uint32_t behind_others = 0) {
    now += 100ms;
    slot_seconds += 0.8;  // eight slots
    return sampler.take({.shards = shards,
                         .busy_slot_seconds = slot_seconds,
                         .concurrency = 64,
                         .awaiting_client = awaiting_client,
                         .behind_others = behind_others},
                        {}, now);
  };
  CHECK_FALSE(tick(0));  // nothing to compare with
  REQUIRE(tick(0));
  CHECK(tick(2));
  CHECK_FALSE(tick(3));
  CHECK(tick(1, 4));
  CHECK_FALSE(tick(2, 4));  // it is at work for four
  CHECK_FALSE(tick(1, 8));
  CHECK(tick(0, 8));
  const auto after = tick(0);  // of that tick alone
  REQUIRE(after);
  CHECK(after->slot_seconds == doctest::Approx(0.8));
  CHECK(after->span == 100ms);
}

}  // namespace spillway::overload
