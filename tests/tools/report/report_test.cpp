#include "report.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "cost_section.hpp"
#include "overload_section.hpp"
#include "table.hpp"
#include "tools/report/cells.hpp"

namespace spillway::report {
namespace {

std::vector<CostCell> some_cost() {
  auto cells = cost_cells("small-get", "spillway", {9, 8, 10});
  add(cells, cost_cells("small-get", "haproxy", {10, 10, 10}));
  add(cells, cost_cells("get-16k", "spillway", {9, 9, 9}));
  add(cells, cost_cells("get-16k", "haproxy", {10, 10, 10}));
  return cells;
}

std::vector<OverloadCell> some_overload(double goodput, double priority_success) {
  std::vector<OverloadCell> cells;
  for (const std::string contender : {"haproxy-tuned", "spillway"}) {
    OverloadCell all = overload_cell(contender, 2, "all", 0.5);
    all.goodput_ratio = contender == "spillway" ? goodput : 1;
    all.denied = 98;
    all.evicted = 1;
    all.timed_out = 1;
    all.denied_on_arrival_p99_ms = 404;
    cells.push_back(all);
    cells.push_back(overload_cell(contender, 2, "P0", priority_success));
  }
  return cells;
}

}  // namespace

TEST_CASE("columns of a table line up whatever is in them") {
  Table table({"what", "µs"});
  CHECK(table.empty());
  table.add({"a", "1"});
  table.add({"a long name", "1000000", "one too many"});
  table.add({"none"});
  const std::string text = table.markdown();
  CHECK(std::count(text.begin(), text.end(), '\n') == 5);
  CHECK(line_with(text, "a long name") == "| a long name | 1000000 |");
  CHECK(line_with(text, "none") == "| none        |         |");
  CHECK(line_with(text, "what") == "| what        |      µs |");
  CHECK(line_with(text, "---") == "| ----------- | ------: |");
  Table words({"one", "two"}, 2);
  words.add({"a", "bb"});
  CHECK(line_with(words.markdown(), "bb") == "| a    | bb   |");
}

TEST_CASE("a number has three digits that mean something") {
  CHECK(number(0.8123) == "0.812");
  CHECK(number(8.123) == "8.12");
  CHECK(number(81.23) == "81.2");
  CHECK(number(81234) == "81234");
}

TEST_CASE("each workload is held to its own aim") {
  const std::string text = cost_tables(some_cost());
  const std::string small = line_with(text, "| small-get"), large = line_with(text, "| get-16k");
  CHECK(has(small, " 0.90 |"));
  CHECK(has(small, "0.80–1.00"));
  CHECK(has(small, " 0.80 |"));
  CHECK(has(small, "NO?"));  // one round was at the aim
  CHECK(has(large, " 1.00 |"));
  CHECK(has(large, " yes |"));
}

TEST_CASE("one round has no range and its verdict is in doubt") {
  auto cells = cost_cells("get-16k", "spillway", {9});
  add(cells, cost_cells("get-16k", "haproxy", {10}));
  const std::string line = line_with(cost_tables(cells), "| get-16k");
  CHECK(has(line, " yes? |"));
  CHECK_FALSE(has(line, "–"));
}

TEST_CASE("what was not measured has no verdict") {
  auto cells = some_cost();
  std::erase_if(cells, [](const CostCell& cell) { return cell.contender == "spillway"; });
  CHECK(has(line_with(cost_tables(cells), "| small-get"), " ? |"));
  CHECK(cost_tables({}).empty());
}

TEST_CASE("a failed cell and a noisy one are told of and a failed one is no figure") {
  auto cells = some_cost();
  cells[0].failure = "3 answered otherwise";
  cells[0].cpu_us.reset();
  cells[1].foreign = 0.4;
  const std::string remarks = cost_remarks(cells);
  CHECK(has(remarks, "small-get, Spillway, round 1: 3 answered otherwise"));
  CHECK(has(remarks, "in 1 of 12 cells"));
  CHECK(has(remarks, "40 %"));
  CHECK(cost_remarks(some_cost()).empty());
}

TEST_CASE("aims under overload are judged beside the tuned HAProxy") {
  const std::string good = overload_aims(some_overload(0.995, 1));
  CHECK(has(line_with(good, "goodput"), "yes"));
  CHECK(has(line_with(good, "P0 success"), "yes"));
  CHECK(has(line_with(good, "P0 p99"), "yes"));
  CHECK(has(line_with(good, "denial on arrival"), "NO"));
  CHECK(has(line_with(good, "evicted and timed out"), "NO"));
  const std::string bad = overload_aims(some_overload(0.98, 0.99));
  CHECK(has(line_with(bad, "goodput"), "NO"));
  CHECK(has(line_with(bad, "P0 success"), "NO"));
}

TEST_CASE("a recovery that was not seen to its end is a lower bound") {
  auto cells = some_overload(1, 1);
  cells[2].recovery_s = 12;
  CHECK(has(overload_table(cells, "capacity-known"), " 12.0 |"));
  cells[2].recovered = false;
  CHECK(has(overload_table(cells, "capacity-known"), " > 12.0 |"));
}

TEST_CASE("a page says machine and versions and shows every picture that comes with it") {
  Results results;
  results.run = {.date = "2026-11-22T10:00:00Z",
                 .commit = "abc1234",
                 .quick = false,
                 .cpu = "A <fast> CPU",
                 .cores = 2,
                 .kernel = "6.1",
                 .congestion_control = "cubic",
                 .load_average = 0.1,
                 .versions = {{"haproxy", "2.6.12"}}};
  results.cost = some_cost();
  results.overload = some_overload(1, 1);
  const Page made = page({results}, "report");
  for (const std::string part :
       {"2026-11-22", "abc1234", "A <fast> CPU", "2 cores", "6.1", "TCP with cubic",
        "haproxy 2.6.12", "3 rounds", "### capacity-known"}) {
    CAPTURE(part);
    CHECK(has(made.markdown, part));
  }
  CHECK(made.pictures.size() == 3);
  for (const auto& [name, svg] : made.pictures) {
    CAPTURE(name);
    CHECK(has(made.markdown, "](report/" + name + ")"));
    CHECK(svg.starts_with("<svg "));
    CHECK(svg.ends_with("</svg>\n"));
    CHECK_FALSE(has(svg, "nan"));
  }
  CHECK(has(terminal_text({results}), "| small-get"));
}

TEST_CASE("each part of a page says when and where it was measured") {
  Results cost, overload;
  cost.run.date = "2026-11-22";
  cost.cost = some_cost();
  overload.run.date = "2026-11-23";
  overload.overload = some_overload(1, 1);
  const std::string apart = page({cost, overload}, "report").markdown;
  CHECK(apart.find("## Cost") < apart.find("2026-11-22"));
  CHECK(apart.find("2026-11-22") < apart.find("### capacity-known"));
  CHECK(apart.find("### capacity-known") < apart.find("2026-11-23"));
  overload.run = cost.run;
  const std::string together = page({cost, overload}, "report").markdown;
  CHECK(together.find("2026-11-22") < together.find("## Cost"));
  CHECK(together.find("2026-11-22") == together.rfind("2026-11-22"));
}

TEST_CASE("a run of one suite says nothing of the other") {
  Results results;
  results.cost = some_cost();
  CHECK_FALSE(has(page({results}, "report").markdown, "Overload"));
  results.overload = some_overload(1, 1);
  results.cost.clear();
  CHECK_FALSE(has(page({results}, "report").markdown, "## Cost"));
}

}  // namespace spillway::report
