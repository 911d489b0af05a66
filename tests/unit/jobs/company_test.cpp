// Which jobs are in hand beside each other.
#include "jobs/company.hpp"

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
std::vector<Lane> bring(Company& company, const Lane& from, std::size_t jobs,
                        std::uint32_t recoveries, std::optional<std::uint32_t> least_left = {}) {
  const Company::Ask ask = company.ask(from, jobs);
  CHECK(ask.limit == jobs);
  CHECK(ask.most_recoveries >= recoveries);
  for (std::size_t n = 0; n < jobs; ++n) company.join(recoveries);
  return company.answered(from, ask, least_left);
}

// What it is asked for once it is known that jobs with so many recoveries were left in it.
Company::Ask asked_for(Company& company, std::uint32_t left, std::size_t limit) {
  bring(company, lane(1), 1, 0, left);
  return company.ask(lane(1), limit);
}

}  // namespace

TEST_CASE("a lane is asked for jobs with few recoveries, whatever is in hand") {
  Company company;
  for (std::uint32_t n = 0; n < 1000; ++n) company.join(n % 4);
  const Company::Ask ask = company.ask(lane(1), 16);
  CHECK(ask.limit == 16);
  CHECK(ask.most_recoveries == kFew);
}

TEST_CASE("with two recoveries eight are in hand together, with three one") {
  SUBCASE("two") {
    Company company;
    const Company::Ask ask = asked_for(company, kMostRecoveries - 1, 100);
    CHECK(ask.limit == 8);
    CHECK(ask.most_recoveries == kMostRecoveries - 1);
  }
  SUBCASE("three") {
    Company company;
    const Company::Ask ask = asked_for(company, kMostRecoveries, 100);
    CHECK(ask.limit == 1);
    CHECK_MESSAGE(ask.most_recoveries > 1000, "what may not be more is not left for ever");
  }
  SUBCASE("two, beside one with three") {
    Company company;
    company.join(kMostRecoveries);
    CHECK(asked_for(company, kMostRecoveries - 1, 100).limit == 7);
  }
  SUBCASE("three, while one is in hand: none is asked for, and others without a limit") {
    Company company;
    company.join(kMostRecoveries);
    const Company::Ask ask = asked_for(company, kMostRecoveries, 100);
    CHECK(ask.limit == 100);
    CHECK(ask.most_recoveries == kFew);
  }
  SUBCASE("three, while eight with two are in hand") {
    Company company;
    for (int n = 0; n < 8; ++n) company.join(kMostRecoveries - 1);
    CHECK(asked_for(company, kMostRecoveries, 100).most_recoveries == kFew);
  }
}

TEST_CASE("what may come of one lane has no room in another, until it is answered or failed") {
  Company company;
  bring(company, lane(1), 1, 0, kMostRecoveries);
  bring(company, lane(2), 1, 0, kMostRecoveries);
  const Company::Ask first = company.ask(lane(1), 16);
  CHECK(first.limit == 1);
  CHECK(company.ask(lane(2), 16).most_recoveries == kFew);
  SUBCASE("nothing came") {
    CHECK(company.answered(lane(1), first, {}) == std::vector{lane(2)});
    CHECK(company.ask(lane(2), 16).limit == 1);
  }
  SUBCASE("it came") {
    company.join(kMostRecoveries);
    CHECK(company.answered(lane(1), first, {}).empty());
    CHECK(company.ask(lane(2), 16).most_recoveries == kFew);
  }
  SUBCASE("the store failed") {
    company.failed();
    CHECK(company.ask(lane(2), 16).limit == 1);
  }
}

TEST_CASE("a lane in which jobs were left is looked at again as soon as one of them may join") {
  Company company;
  CHECK_MESSAGE(bring(company, lane(1), 4, 1, kMostRecoveries) == std::vector{lane(1)},
                "one may join at once");
  CHECK(bring(company, lane(1), 1, kMostRecoveries).empty());
  CHECK(bring(company, lane(1), 4, 1, kMostRecoveries).empty());
  CHECK(bring(company, lane(2), 4, 1, kMostRecoveries).empty());
  CHECK(bring(company, lane(7, "order"), 4, 1, kMostRecoveries).empty());
  CHECK_MESSAGE(company.leave(1).empty(), "one that is of no kind");
  // Of each route one, in turns.
  CHECK(company.leave(kMostRecoveries) == std::vector{lane(1), lane(7, "order")});
  company.join(kMostRecoveries);
  CHECK(company.leave(kMostRecoveries) == std::vector{lane(2), lane(7, "order")});
  company.join(kMostRecoveries);
  CHECK(company.leave(kMostRecoveries) == std::vector{lane(1), lane(7, "order")});
}

TEST_CASE("a lane is asked for what was left in it once, until others are known to be") {
  Company company;
  bring(company, lane(1), 1, 0, kMostRecoveries);
  for (int n = 0; n < 3; ++n) {
    const Company::Ask ask = company.ask(lane(1), 16);
    CHECK(ask.limit == (n == 0 ? 1 : 16));
    company.join(0);  // it was due before
    CHECK(company.answered(lane(1), ask, {}).empty());
  }
}

TEST_CASE("so many lanes are known in which jobs were left, and no more") {
  Company company;
  company.join(kMostRecoveries);
  for (std::uint64_t n = 0; n < 2 * Company::kMostLanes; ++n)
    CHECK(bring(company, lane(n), 1, 0, kMostRecoveries).empty());
  std::set<Lane> looked_at;
  for (std::size_t n = 0; n < Company::kMostLanes; ++n) {
    for (const Lane& each : company.leave(kMostRecoveries)) looked_at.insert(each);
    company.join(kMostRecoveries);
  }
  CHECK(looked_at.size() == Company::kMostLanes);
  CHECK(*looked_at.rbegin() == lane(Company::kMostLanes - 1));
}

TEST_CASE("whatever lanes have, what is in hand and may come keeps to the rule") {
  Random random(1);
  Company company;
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
    std::vector<std::pair<std::uint64_t, Company::Ask>> asks;
    for (const std::uint64_t n : to_ask) asks.emplace_back(n, company.ask(lane(n), 16));
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
        for (std::size_t job = 0; job < taken; ++job) company.join(recoveries);
        its -= taken;
        brought += taken;
        in_hand[recoveries] += taken;
      }
      if (brought == ask.limit) to_ask.insert(n);
      look_at(company.answered(lane(n), ask, least_left));
      CHECK(in_hand[kMostRecoveries] <= 1);
      CHECK(in_hand[kMostRecoveries] + in_hand[kMostRecoveries - 1] <= 8);
    }
    for (std::uint32_t recoveries = 0; recoveries <= kMostRecoveries; ++recoveries)
      for (; in_hand[recoveries] > 0; --in_hand[recoveries], ++done)
        look_at(company.leave(recoveries));
  }
  CHECK(is_over());
  CHECK_MESSAGE(turns < done, "no lane is asked again and again for nothing");
}

}  // namespace spillway::jobs
