// Which jobs are in hand beside each other.
#include "jobs/poison_guard.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace spillway::jobs {
namespace {

Lane lane(std::uint64_t tenant, const char* route = "export") {
  return {255, route, TenantId{tenant}};
}

// As is asked when nothing is known of the lane.
constexpr std::uint32_t kFew = kMostRecoveries - 2;

// The lane is asked, and so many jobs with `recoveries` come of it.
std::vector<Lane> bring(PoisonGuard& guard, const Lane& from, std::size_t jobs,
                        std::uint32_t recoveries, std::optional<std::uint32_t> least_left = {}) {
  const PoisonGuard::Ask ask = guard.ask(from, jobs);
  CHECK(ask.limit == jobs);
  CHECK(ask.most_recoveries >= recoveries);
  for (std::size_t n = 0; n < jobs; ++n) guard.join(recoveries);
  return guard.answered(from, ask, least_left);
}

// What it is asked for once it is known that jobs with so many recoveries were left in it.
PoisonGuard::Ask asked_for(PoisonGuard& guard, std::uint32_t left, std::size_t limit) {
  bring(guard, lane(1), 1, 0, left);
  return guard.ask(lane(1), limit);
}

}  // namespace

TEST_CASE("a lane is asked for jobs with few recoveries, whatever is in hand") {
  PoisonGuard guard;
  for (std::uint32_t n = 0; n < 1000; ++n) guard.join(n % 4);
  const PoisonGuard::Ask ask = guard.ask(lane(1), 16);
  CHECK(ask.limit == 16);
  CHECK(ask.most_recoveries == kFew);
}

TEST_CASE("with two recoveries eight are in hand together, with three one") {
  SUBCASE("two") {
    PoisonGuard guard;
    const PoisonGuard::Ask ask = asked_for(guard, kMostRecoveries - 1, 100);
    CHECK(ask.limit == 8);
    CHECK(ask.most_recoveries == kMostRecoveries - 1);
  }
  SUBCASE("three") {
    PoisonGuard guard;
    const PoisonGuard::Ask ask = asked_for(guard, kMostRecoveries, 100);
    CHECK(ask.limit == 1);
    CHECK_MESSAGE(ask.most_recoveries > 1000, "what may not be more is not left for ever");
  }
  SUBCASE("two, beside one with three") {
    PoisonGuard guard;
    guard.join(kMostRecoveries);
    CHECK(asked_for(guard, kMostRecoveries - 1, 100).limit == 7);
  }
  SUBCASE("three, while one is in hand: none is asked for, and others without a limit") {
    PoisonGuard guard;
    guard.join(kMostRecoveries);
    const PoisonGuard::Ask ask = asked_for(guard, kMostRecoveries, 100);
    CHECK(ask.limit == 100);
    CHECK(ask.most_recoveries == kFew);
  }
  SUBCASE("three, while eight with two are in hand") {
    PoisonGuard guard;
    for (int n = 0; n < 8; ++n) guard.join(kMostRecoveries - 1);
    CHECK(asked_for(guard, kMostRecoveries, 100).most_recoveries == kFew);
  }
}

TEST_CASE("what may come of one lane has no room in another, until it is answered or failed") {
  PoisonGuard guard;
  bring(guard, lane(1), 1, 0, kMostRecoveries);
  bring(guard, lane(2), 1, 0, kMostRecoveries);
  const PoisonGuard::Ask first = guard.ask(lane(1), 16);
  CHECK(first.limit == 1);
  CHECK(guard.ask(lane(2), 16).most_recoveries == kFew);
  SUBCASE("nothing came") {
    CHECK(guard.answered(lane(1), first, {}) == std::vector{lane(2)});
    CHECK(guard.ask(lane(2), 16).limit == 1);
  }
  SUBCASE("it came") {
    guard.join(kMostRecoveries);
    CHECK(guard.answered(lane(1), first, {}).empty());
    CHECK(guard.ask(lane(2), 16).most_recoveries == kFew);
  }
  SUBCASE("the store failed") {
    guard.failed();
    CHECK(guard.ask(lane(2), 16).limit == 1);
  }
}

TEST_CASE("a lane in which jobs were left is looked at again as soon as one of them may join") {
  PoisonGuard guard;
  CHECK_MESSAGE(bring(guard, lane(1), 4, 1, kMostRecoveries) == std::vector{lane(1)},
                "one may join at once");
  CHECK(bring(guard, lane(1), 1, kMostRecoveries).empty());
  CHECK(bring(guard, lane(1), 4, 1, kMostRecoveries).empty());
  CHECK(bring(guard, lane(2), 4, 1, kMostRecoveries).empty());
  CHECK(bring(guard, lane(7, "order"), 4, 1, kMostRecoveries).empty());
  CHECK_MESSAGE(guard.leave(1).empty(), "one that is of no kind");
  // Of each route one, in turns.
  CHECK(guard.leave(kMostRecoveries) == std::vector{lane(1), lane(7, "order")});
  guard.join(kMostRecoveries);
  CHECK(guard.leave(kMostRecoveries) == std::vector{lane(2), lane(7, "order")});
  guard.join(kMostRecoveries);
  CHECK(guard.leave(kMostRecoveries) == std::vector{lane(1), lane(7, "order")});
}

TEST_CASE("a lane is asked for what was left in it once, until others are known to be") {
  PoisonGuard guard;
  bring(guard, lane(1), 1, 0, kMostRecoveries);
  for (int n = 0; n < 3; ++n) {
    const PoisonGuard::Ask ask = guard.ask(lane(1), 16);
    CHECK(ask.limit == (n == 0 ? 1 : 16));
    guard.join(0);  // it was due before
    CHECK(guard.answered(lane(1), ask, {}).empty());
  }
}

TEST_CASE("so many lanes are known in which jobs were left, and no more") {
  PoisonGuard guard;
  guard.join(kMostRecoveries);
  for (std::uint64_t n = 0; n < 2 * PoisonGuard::kMostLanes; ++n)
    CHECK(bring(guard, lane(n), 1, 0, kMostRecoveries).empty());
  std::set<Lane> looked_at;
  for (std::size_t n = 0; n < PoisonGuard::kMostLanes; ++n) {
    for (const Lane& each : guard.leave(kMostRecoveries)) looked_at.insert(each);
    guard.join(kMostRecoveries);
  }
  CHECK(looked_at.size() == PoisonGuard::kMostLanes);
  CHECK(*looked_at.rbegin() == lane(PoisonGuard::kMostLanes - 1));
}

TEST_CASE("whatever lanes have, what is in hand and may come keeps to the rule") {
  Random random(1);
  PoisonGuard guard;
  // Of each lane, how many jobs with so many recoveries wait; of what is in hand as well.
  std::array<std::array<std::size_t, kMostRecoveries + 1>, 20> waiting{};
  std::array<std::size_t, kMostRecoveries + 1> in_hand{};
  for (auto& its : waiting)
    for (std::size_t& jobs : its) jobs = static_cast<std::size_t>(random.uniform() * 30);
  std::size_t done = 0, turns = 0;
  std::set<std::uint64_t> to_ask;
  for (std::uint64_t n = 0; n < waiting.size(); ++n) to_ask.insert(n);
  const auto look_at = [&](const std::vector<Lane>& lanes) {
    for (const Lane& each : lanes) to_ask.insert(static_cast<std::uint64_t>(each.tenant));
  };
  const auto is_over = [&] {
    return std::ranges::all_of(waiting, [](const auto& its) {
      return std::ranges::all_of(its, [](std::size_t jobs) { return jobs == 0; });
    });
  };
  for (; !is_over() && turns < 100'000; ++turns) {
    std::vector<std::pair<std::uint64_t, PoisonGuard::Ask>> asks;
    for (const std::uint64_t n : to_ask) asks.emplace_back(n, guard.ask(lane(n), 16));
    to_ask.clear();
    for (const auto& [n, ask] : asks) {
      std::size_t brought = 0;
      std::optional<std::uint32_t> least_left;
      for (std::uint32_t recoveries = kMostRecoveries + 1; recoveries-- > 0;) {
        std::size_t& its = waiting[n][recoveries];
        if (recoveries > ask.most_recoveries) {
          if (its > 0) least_left = recoveries;
          continue;
        }
        const std::size_t taken = std::min(its, ask.limit - brought);
        for (std::size_t job = 0; job < taken; ++job) guard.join(recoveries);
        its -= taken;
        brought += taken;
        in_hand[recoveries] += taken;
      }
      if (brought == ask.limit) to_ask.insert(n);
      look_at(guard.answered(lane(n), ask, least_left));
      CHECK(in_hand[kMostRecoveries] <= 1);
      CHECK(in_hand[kMostRecoveries] + in_hand[kMostRecoveries - 1] <= 8);
    }
    for (std::uint32_t recoveries = 0; recoveries <= kMostRecoveries; ++recoveries)
      for (; in_hand[recoveries] > 0; --in_hand[recoveries], ++done)
        look_at(guard.leave(recoveries));
  }
  CHECK(is_over());
  CHECK_MESSAGE(turns < done, "no lane is asked again and again for nothing");
}

}  // namespace spillway::jobs
