#include "cost_figures.hpp"

#include <doctest/doctest.h>

#include "tools/report/cells.hpp"

namespace spillway::report {
namespace {

Spread cpu_ratio(const std::vector<CostCell>& cells) {
  return ratio_to(cells, "small-get", "spillway", "haproxy", &CostCell::cpu_us);
}

}  // namespace

TEST_CASE("a machine that gets slower from round to round does not move the ratio") {
  auto cells = cost_cells("small-get", "spillway", {8, 16, 40});
  add(cells, cost_cells("small-get", "haproxy", {10, 20, 50}));
  const Spread ratio = cpu_ratio(cells);
  CHECK(ratio.median == doctest::Approx(0.8));
  CHECK(ratio.lowest == doctest::Approx(0.8));
  CHECK(ratio.highest == doctest::Approx(0.8));
  CHECK(ratio.count == 3);
}

TEST_CASE("a round counts only if both were measured in it") {
  auto cells = cost_cells("small-get", "spillway", {8, 9, 10});
  add(cells, cost_cells("small-get", "haproxy", {10, 10, 10}));
  cells[0].failure = "no answer";
  cells[4].cpu_us.reset();
  const Spread ratio = cpu_ratio(cells);
  CHECK(ratio.count == 1);
  CHECK(ratio.median == doctest::Approx(1.0));
  CHECK(over_rounds(cells, "small-get", "spillway", &CostCell::cpu_us).count == 2);
}

TEST_CASE("a figure of zero is nothing to compare with") {
  auto cells = cost_cells("small-get", "spillway", {8});
  add(cells, cost_cells("small-get", "haproxy", {10}));
  cells[1].cpu_us = 0;
  CHECK(cpu_ratio(cells).count == 0);
}

TEST_CASE("one contender is compared with itself at another workload") {
  auto cells = cost_cells("small-get", "spillway", {10, 20});
  add(cells, cost_cells("two-workers", "spillway", {11, 22}));
  const Spread ratio =
      ratio_of_workloads(cells, "spillway", "two-workers", "small-get", &CostCell::cpu_us);
  CHECK(ratio.median == doctest::Approx(1.1));
  CHECK(ratio.count == 2);
}

TEST_CASE("workloads and contenders are named once and in the order of the run") {
  auto cells = cost_cells("post", "spillway", {1, 1});
  add(cells, cost_cells("get", "haproxy", {1}));
  add(cells, cost_cells("post", "haproxy", {1}));
  CHECK(workloads(cells) == std::vector<std::string>{"post", "get"});
  CHECK(contenders(cells) == std::vector<std::string>{"spillway", "haproxy"});
  CHECK(rounds(cells) == 2);
  CHECK(rounds({}) == 0);
}

}  // namespace spillway::report
