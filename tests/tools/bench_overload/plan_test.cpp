#include "bench/overload/plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

using namespace spillway;
using namespace spillway::bench;

namespace {

double seconds_of(const std::vector<Cell>& cells) {
  double sum = 0;
  for (const Cell& cell : cells) sum += expected_seconds(cell);
  return sum;
}

double measured(const Cell& cell) { return to_seconds(cell.phases.at(1).length); }

}  // namespace

TEST_CASE("every contender of every scenario is known and has a scenario's load") {
  for (const Scenario& scenario : scenarios()) {
    CAPTURE(scenario.name);
    CHECK(find_scenario(scenario.name) == &scenario);
    CHECK_FALSE(scenario.loads.empty());
    for (const auto& names : {scenario.contenders, scenario.others, scenario.quick_contenders}) {
      for (const auto name : names) {
        CAPTURE(name);
        CHECK(find_contender(name) != nullptr);
      }
    }
  }
  CHECK(find_scenario("no-such") == nullptr);
  CHECK(find_contender("no-such") == nullptr);
}

TEST_CASE("the quick plan takes about ninety seconds and shows every usual scenario") {
  const auto cells = plan({.quick = true});
  CHECK(seconds_of(cells) < 110);
  std::set<const Scenario*> shown;
  for (const Cell& cell : cells) shown.insert(cell.scenario);
  for (const Scenario& scenario : scenarios()) CHECK(shown.count(&scenario) == scenario.usual);
}

TEST_CASE("the record takes less than two hours and three quarters") {
  CHECK(seconds_of(plan({})) < 2.75 * 3600);
}

TEST_CASE("a cell of the record has enough completions and enough of P0") {
  for (const Cell& cell : plan({})) {
    if (cell.scenario->disturbance) continue;
    CAPTURE(cell.scenario->name);
    CAPTURE(cell.load);
    if (!cell.contender->protects && cell.load > 1) {
      CHECK(measured(cell) == kUnprotectedSeconds);
      continue;
    }
    const double capacity = capacity_rps(*cell.scenario);
    CHECK(measured(cell) * capacity * std::min(cell.load, 1.0) >= kCompletions - 1);
    if (!cell.scenario->judges_purchases || cell.load < 1) continue;
    double purchases = 0;
    for (const auto& source : sources_of(*cell.scenario, cell.load)) {
      if (source.kind == 0) purchases += source.share * cell.load * capacity * measured(cell);
    }
    CHECK(purchases >= kPurchases - 1);
  }
}

TEST_CASE("the record repeats what is compared thrice and shows the others once") {
  std::map<std::string_view, std::set<int>> repetitions;
  for (const Cell& cell : plan({.scenarios = {"capacity-known"}})) {
    repetitions[cell.contender->name].insert(cell.repetition);
  }
  CHECK(repetitions["spillway"] == std::set<int>{1, 2, 3});
  CHECK(repetitions["haproxy-tuned"] == std::set<int>{1, 2, 3});
  for (const auto other : find_scenario("capacity-known")->others)
    CHECK(repetitions[other] == std::set<int>{1});
}

TEST_CASE("contenders of a repetition and load follow one another and have the same seed") {
  const auto cells = plan({.scenarios = {"capacity-wrong"}});
  for (std::size_t i = 1; i < cells.size(); ++i) {
    const bool same = cells[i].repetition == cells[i - 1].repetition;
    CHECK((cells[i].seed == cells[i - 1].seed) == same);
  }
  std::set<std::pair<int, double>> finished;
  std::pair<int, double> now{0, 0};
  for (const Cell& cell : cells) {
    const std::pair<int, double> at{cell.repetition, cell.load};
    if (at != now) CHECK(finished.insert(at).second);
    now = at;
  }
}

TEST_CASE("what is asked for is planned and nothing else") {
  const auto cells = plan({.scenarios = {"capacity-cut"},
                           .loads = {1.5},
                           .contenders = {"direct", "spillway"},
                           .repetitions = 2,
                           .seconds = 7,
                           .seed = 5});
  REQUIRE(cells.size() == 3);
  CHECK(cells[0].contender->name == "direct");
  CHECK(cells[1].contender->name == "spillway");
  CHECK(cells[2].repetition == 2);
  CHECK(cells[2].seed == 6);
  for (const Cell& cell : cells) {
    CHECK(cell.load == 1.5);
    REQUIRE(cell.phases.size() == 4);
    CHECK(cell.phases[2].length == std::chrono::seconds(7));
    for (const auto& phase : cell.phases) CHECK(phase.rate == doctest::Approx(1200));
  }
  CHECK_THROWS_AS(plan({.scenarios = {"no-such"}}), std::runtime_error);
  CHECK_THROWS_AS(plan({.contenders = {"no-such"}}), std::runtime_error);
}

TEST_CASE("a tail makes capacity less because capacity is slots by mean service time") {
  CHECK(capacity_rps(*find_scenario("capacity-known")) == doctest::Approx(800));
  CHECK(capacity_rps(*find_scenario("cacheable-reads")) == doctest::Approx(400));
  CHECK(capacity_rps(*find_scenario("tail")) == doctest::Approx(800 / 1.09));
}

TEST_CASE("quiet tenants ask for half of their fair share and the noisy one for all the rest") {
  const Scenario& scenario = *find_scenario("noisy-tenant");
  for (const double load : {2.0, 6.0}) {
    std::map<std::uint8_t, double> demand;  // of the capacity
    for (const auto& source : sources_of(scenario, load)) {
      CHECK(source.kind == (source.tenant == 0 ? 0 : 1));
      demand[source.tenant] += source.share * load;
    }
    CHECK(demand.at(0) == doctest::Approx(0.1));
    for (std::uint8_t tenant = 1; tenant <= kQuietTenants; ++tenant) {
      CHECK(demand.at(tenant) == doctest::Approx(0.05));
    }
    CHECK(demand.at(kNoisyTenant) == doctest::Approx(load - 0.55));
  }
}
