#include "resilience/slot_parts.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "resilience/rotation.hpp"

namespace spillway::resilience {
namespace {

std::vector<std::uint32_t> parts_of(std::uint32_t slots, std::size_t servers) {
  std::vector<std::uint32_t> parts;
  for (std::size_t i = 0; i < servers; ++i) parts.push_back(SlotParts(slots, servers).of(i));
  return parts;
}

// Requests in flight, by server.
struct Flying {
  std::uint32_t its[3];
  std::uint32_t former[3] = {};

  InFlight operator()(std::size_t server) const { return {its[server], former[server]}; }
};

constexpr ServerSet kThree = ServerSet::first(3);

}  // namespace

TEST_CASE("the slots are divided equally and the first servers have what is left") {
  using Parts = std::vector<std::uint32_t>;
  CHECK(parts_of(32, 1) == Parts{32});
  CHECK(parts_of(32, 2) == Parts{16, 16});
  CHECK(parts_of(33, 2) == Parts{17, 16});
  CHECK(parts_of(10, 4) == Parts{3, 3, 2, 2});
  CHECK(parts_of(3, 3) == Parts{1, 1, 1});
  CHECK(parts_of(2, 3) == Parts{1, 1, 1});  // none has no slot
  CHECK(parts_of(1, 2) == Parts{1, 1});
}

TEST_CASE("the parts of all servers are all slots and of some the sum of theirs") {
  for (std::uint32_t slots = 1; slots <= 200; ++slots) {
    for (std::size_t servers = 1; servers <= ServerSet::kCapacity; ++servers) {
      const SlotParts parts(slots, servers);
      REQUIRE(parts.of(ServerSet::first(servers)) == slots);
      std::uint32_t sum = 0;
      ServerSet some;
      for (std::size_t server = 0; server < servers; server += 2) {
        some.insert(server);
        sum += parts.of(server);
      }
      REQUIRE(parts.of(some) == std::min(sum, slots));
      REQUIRE(parts.of(some) >= 1);
      REQUIRE(parts.of(servers - 1) + 1 >= parts.of(std::size_t{0}));
    }
  }
  const std::uint32_t most = UINT32_MAX;
  CHECK(SlotParts(most, 64).of(ServerSet::first(64)) == most);
  CHECK(SlotParts(most, 3).of(ServerSet(0b011)) == most / 3 * 2);
}

TEST_CASE("by shares all parts are all slots, and none is empty") {
  ServerShares shares(3);
  CHECK(shares.are_equal());
  CHECK(SlotParts(33, shares).of(std::size_t{0}) == 11);
  shares.set(std::vector<double>{32, 8, 16});
  CHECK_FALSE(shares.are_equal());
  const SlotParts true_ones(56, shares);
  CHECK(true_ones.of(std::size_t{0}) == 32);
  CHECK(true_ones.of(std::size_t{1}) == 8);
  CHECK(true_ones.of(std::size_t{2}) == 16);
  CHECK(true_ones.of(ServerSet(0b011)) == 40);
  for (std::uint32_t slots = 16; slots <= 200; ++slots) {
    const SlotParts parts(slots, shares);
    std::uint32_t sum = 0;
    for (std::size_t server = 0; server < 3; ++server) {
      REQUIRE(parts.of(server) >= 1);
      sum += parts.of(server);
    }
    REQUIRE(sum == slots);
    REQUIRE(parts.of(kThree) == slots);
  }
  CHECK(SlotParts(2, shares).of(std::size_t{1}) == 1);
  CHECK(SlotParts(2, shares).of(kThree) == 2);
  CHECK(SlotParts(UINT32_MAX, shares).of(kThree) == UINT32_MAX);
}

TEST_CASE("equal weights are equal parts, and more slots are never a smaller part") {
  ServerShares shares(3);
  shares.set(std::vector<double>{1, 2, 1});
  shares.set(std::vector<double>{1, 1, 1});
  for (std::uint32_t slots = 3; slots < 40; ++slots) {
    for (std::size_t server = 0; server < 3; ++server) {
      CHECK(SlotParts(slots, shares).of(server) == SlotParts(slots, 3).of(server));
      CHECK(SlotParts(slots, shares).of(server) <= SlotParts(slots + 1, shares).of(server));
    }
  }
}

TEST_CASE("a server that is lost takes its part with it but for what is in flight there") {
  const Flying none{}, some{{9, 4, 9}};
  const Rotation whole{.all = kThree, .in = kThree, .on_trial = {}};
  CHECK(whole.usable(30, SlotParts(30, 3), some) == 30);
  CHECK(whole.elsewhere(some) == 0);
  CHECK(whole.servers_in() == 3);
  const Rotation without_second{.all = kThree, .in = ServerSet(0b101), .on_trial = {}};
  CHECK(without_second.usable(30, SlotParts(30, 3), none) == 20);
  CHECK(without_second.usable(30, SlotParts(30, 3), some) == 24);
  CHECK(without_second.usable(30, SlotParts(30, 3), Flying{{10, 15, 10}}) ==
        30);  // never more than there are
  CHECK(without_second.elsewhere(some) == 4);
  CHECK(without_second.servers_in() == 2);
  CHECK(without_second.load(0, SlotParts(31, 3), {4}).part == 11);
  CHECK(without_second.load(2, SlotParts(31, 3), {4}).part == 10);
  CHECK(without_second.load(2, SlotParts(31, 3), {4}).in_flight == 4);
}

TEST_CASE("a server on trial has one slot, and where no server is in rotation each has its part") {
  const Flying none{};
  const Rotation trial{.all = kThree, .in = ServerSet(0b011), .on_trial = ServerSet(0b100)};
  const SlotParts parts(30, 3);
  CHECK(trial.usable(30, SlotParts(30, 3), none) == 21);
  CHECK(trial.usable(30, SlotParts(30, 3), Flying{{10, 10, 1}}) == 21);
  CHECK(trial.usable(30, SlotParts(30, 3), Flying{{10, 10, 5}}) == 25);  // from before
  CHECK(trial.load(2, parts, {}).part == 1);
  CHECK(trial.load(1, parts, {}).part == 10);
  CHECK(trial.servers_in() == 2);
  for (const ServerSet on_trial : {ServerSet(), ServerSet(0b010), kThree}) {
    const Rotation lost{.all = kThree, .in = {}, .on_trial = on_trial};
    CHECK(lost.usable(30, SlotParts(30, 3), none) == 30);
    CHECK(lost.load(1, parts, {}).part == 10);
    CHECK(lost.elsewhere(Flying{{5, 5, 5}}) == 0);
    CHECK(lost.servers_in() == 3);
  }
}

TEST_CASE("the slot of a trial is free although older requests are still in flight there") {
  const Rotation trial{.all = kThree, .in = ServerSet(0b011), .on_trial = ServerSet(0b100)};
  const SlotParts parts(30, 3);
  CHECK(trial.load(2, parts, {.all = 4, .former = 4}).has_room());
  CHECK(trial.load(2, parts, {.all = 4, .former = 4}).in_flight == 0);
  CHECK_FALSE(trial.load(2, parts, {.all = 5, .former = 4}).has_room());
  CHECK(trial.usable(30, SlotParts(30, 3), Flying{{10, 10, 4}, {0, 0, 4}}) == 25);
  CHECK(trial.usable(30, SlotParts(30, 3), Flying{{10, 10, 5}, {0, 0, 4}}) == 25);
  CHECK(trial.elsewhere(Flying{{10, 10, 5}, {0, 0, 4}}) == 5);
  CHECK(trial.load(0, parts, {.all = 4, .former = 4}).in_flight == 4);
}

TEST_CASE("the last server that is up has its part and no more although it is on trial") {
  const SlotParts parts(30, 3);
  const Rotation last = Rotation::of(kThree, ServerSet(0b011), ServerSet(0b111));
  CHECK(last.usable(30, SlotParts(30, 3), Flying{{0, 0, 0}}) == 10);
  CHECK(last.usable(30, SlotParts(30, 3), Flying{{3, 0, 10}}) == 13);
  CHECK(last.load(2, parts, {}).part == 10);
  CHECK(last.servers_in() == 1);
  CHECK(Rotation::of(kThree, kThree, kThree).usable(30, SlotParts(30, 3), Flying{{0, 0, 0}}) ==
        30);  // all are lost
  CHECK(Rotation::of(kThree, {}, kThree).usable(30, SlotParts(30, 3), Flying{{0, 0, 0}}) == 30);
  CHECK(Rotation::of(kThree, ServerSet(0b001), ServerSet(0b010))
            .usable(30, SlotParts(30, 3), Flying{{0, 0, 0}}) == 11);
}

TEST_CASE("the load of servers is compared by their parts") {
  CHECK(ServerLoad{.in_flight = 1, .part = 8} < ServerLoad{.in_flight = 1, .part = 4});
  CHECK_FALSE(ServerLoad{.in_flight = 2, .part = 8} < ServerLoad{.in_flight = 1, .part = 4});
  CHECK_FALSE(ServerLoad{.in_flight = 1, .part = 4} < ServerLoad{.in_flight = 2, .part = 8});
  CHECK(ServerLoad{.in_flight = 3, .part = UINT32_MAX} <
        ServerLoad{.in_flight = 4, .part = UINT32_MAX});
  CHECK(ServerLoad{.in_flight = 3, .part = 4}.has_room());
  CHECK_FALSE(ServerLoad{.in_flight = 4, .part = 4}.has_room());
}

}  // namespace spillway::resilience
