#include "results.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <stdexcept>

#include "tools/report/cells.hpp"

namespace spillway::report {
namespace {

Results read(const std::string& text) {
  std::istringstream lines(text);
  return read_results(lines);
}

std::string problem(const std::string& text) {
  try {
    read(text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("lines of all suites are read with what was measured and what was not") {
  const Results results = read(
      R"({"suite":"run","date":"2026-11-22T10:00:00Z","commit":"abc+","quick":true,"cpu":"X","cores":2,)"
      R"("kernel":"6.1","congestion_control":"cubic","load_average":0.5,)"
      R"("versions":{"haproxy":"2.6.12"}})"
      "\n"
      R"({"suite":"cost","workload":"idle","contender":"nginx","round":2,"idle_kib":0.5,"cpu_us":null})"
      "\n\n"
      R"({"suite":"overload","scenario":"s","load":1.2,"contender":"direct","repetition":1,)"
      R"("class":"P0","sent":10,"succeeded":9,"something_new":[1]})"
      "\n");
  CHECK(results.run.commit == "abc+");
  CHECK(results.run.quick);
  CHECK(results.run.congestion_control == "cubic");
  CHECK(results.run.versions.at("haproxy") == "2.6.12");
  REQUIRE(results.cost.size() == 1);
  CHECK(results.cost[0].round == 2);
  CHECK(results.cost[0].idle_kib == 0.5);
  CHECK_FALSE(results.cost[0].cpu_us.has_value());
  REQUIRE(results.overload.size() == 1);
  CHECK(results.overload[0].load == 1.2);
  CHECK(results.overload[0].succeeded == 9);
  CHECK_FALSE(results.overload[0].jain.has_value());
}

TEST_CASE("what is no result line is refused with its number") {
  CHECK(has(problem("\n{"), "line 2"));
  CHECK(has(problem(R"({"workload":"small-get"})"), "line 1"));
  CHECK(has(problem(R"({"suite":"speed"})"), "there is no suite speed"));
  CHECK(has(problem(R"({"suite":"cost","contender":"nginx","round":1})"), "workload"));
  CHECK(has(problem(R"({"suite":"cost","workload":"a","contender":"b","round":1,"rps":"much"})"),
            "line 1"));
}

TEST_CASE("figures of two runs are not mixed") {
  const std::string run = R"({"suite":"run","date":"today"})";
  CHECK(problem(run) == "none");
  CHECK(has(problem(run + "\n" + run), "line 2: another run"));

  const Results cost = read(R"({"suite":"cost","workload":"a","contender":"b","round":1})");
  const auto scenario = [](const std::string& name) {
    return read(R"({"suite":"overload","scenario":")" + name +
                R"(","load":2,"contender":"b","repetition":1})");
  };
  CHECK_NOTHROW(check_apart({cost, scenario("x"), scenario("y")}));
  CHECK_THROWS_AS(check_apart({cost, cost}), std::runtime_error);
  CHECK_THROWS_AS(check_apart({scenario("x"), scenario("x")}), std::runtime_error);
}

}  // namespace spillway::report
