#include "bench/hostile/cell.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "bench/hostile/behaviour.hpp"
#include "bench/hostile/slowhttptest.hpp"

using namespace spillway;
using namespace spillway::hostile;

namespace {

long count(const std::vector<Cell>& cells, std::string_view behaviour, std::string_view contender) {
  return std::count_if(cells.begin(), cells.end(), [&](const Cell& cell) {
    return cell.behaviour == behaviour && cell.contender->name == contender;
  });
}

}  // namespace

TEST_CASE("every contender meets the control and every behaviour") {
  const auto cells = plan({});
  for (const std::string& behaviour : behaviour_names()) {
    for (const std::string_view contender : contender_names()) {
      CAPTURE(behaviour);
      CAPTURE(contender);
      CHECK(count(cells, behaviour, contender) >= 1);
    }
  }
  CHECK(behaviour_names().front() == kNoAttack);
  CHECK(manners().size() >= 17);
}

TEST_CASE("contenders with limits by address are also attacked from a single one") {
  const auto cells = plan({});
  CHECK(count(cells, "slow-head", "nginx-hardened") == 2);
  CHECK(count(cells, "slow-head", "haproxy-hardened") == 2);
  CHECK(count(cells, "slow-head", "spillway") == 1);
  CHECK(count(cells, "slowhttptest-H", "nginx-hardened") == 1);  // it has one address
  CHECK(count(cells, "none", "nginx-hardened") == 1);
  CHECK(count(plan({.addresses = {1, 7, 250}}), "slow-head", "spillway") == 3);
}

TEST_CASE("a run takes less than 25 minutes and counts a thousand requests of P0 in each cell") {
  double seconds = 0;
  for (const Cell& cell : plan({})) {
    seconds += expected_seconds(cell);
    CHECK(to_seconds(cell.counted) * kP0PerSecond >= 1000);
  }
  CHECK(seconds <= 25 * 60);
  for (const Cell& cell : plan({.quick = true})) CHECK(expected_seconds(cell) < 5);
}

TEST_CASE("no cell comes twice, and names that there are not are refused") {
  std::set<std::string> names;
  for (const Cell& cell : plan({.rounds = 2})) {
    CHECK(names
              .insert(cell.behaviour + ' ' + std::string(cell.contender->name) + ' ' +
                      std::to_string(cell.addresses) + ' ' + std::to_string(cell.round))
              .second);
  }
  CHECK(plan({.behaviours = {"churn"}, .contenders = {"haproxy"}}).size() == 1);
  CHECK_THROWS_AS(plan({.behaviours = {"polite"}}), std::invalid_argument);
  CHECK_THROWS_AS(plan({.contenders = {"apache"}}), std::invalid_argument);
  CHECK_THROWS_AS(slow_command("slowhttptest-Q", 80), std::out_of_range);
}

TEST_CASE("no manner plans for more than the bounds") {
  for (const Manner& manner : manners()) {
    CAPTURE(manner.name);
    CHECK(manner.connections > 0);
    CHECK(manner.connections <= kMostConnections);
    CHECK(find_manner(manner.name) == &manner);
  }
}
