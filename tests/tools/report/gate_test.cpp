#include "gate.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tools/report/cells.hpp"

namespace spillway::report {
namespace {

// Spillway's CPU per request in each round where HAProxy takes 10.
OverloadStatus judged(const std::vector<double>& ours, const Bound& bound) {
  auto cells = cost_cells("small-get", "spillway", ours);
  add(cells, cost_cells("small-get", "haproxy", std::vector<double>(ours.size(), 10)));
  return judge(cells, bound);
}

const Bound kBound{.workload = "small-get", .ratio = 0.8, .margin = 0.1};

std::vector<Bound> bounds(const std::string& text) {
  std::istringstream stream(text);
  return read_bounds(stream);
}

}  // namespace

TEST_CASE("a ratio within bound and margin is kept and one above it is broken") {
  CHECK(judged({8, 8, 8}, kBound).outcome == Outcome::kept);
  CHECK(judged({8.7, 8.7, 8.7}, kBound).outcome == Outcome::kept);
  CHECK(judged({8.9, 8.9, 8.9}, kBound).outcome == Outcome::broken);
}

TEST_CASE("one bad round breaks nothing and one good round mends nothing") {
  CHECK(judged({8, 8, 30}, kBound).outcome == Outcome::kept);
  CHECK(judged({8, 9.5, 9.5}, kBound).outcome == Outcome::broken);
}

TEST_CASE("too few rounds are no evidence either way") {
  CHECK(judged({8, 8}, kBound).outcome == Outcome::unmeasured);
  CHECK(judged({20, 20}, kBound).outcome == Outcome::unmeasured);
  CHECK(judge({}, kBound).outcome == Outcome::unmeasured);
}

TEST_CASE("a slower machine changes no verdict") {
  auto cells = cost_cells("small-get", "spillway", {40, 80, 120});
  add(cells, cost_cells("small-get", "haproxy", {50, 100, 150}));
  CHECK(judge(cells, kBound).outcome == Outcome::kept);
}

TEST_CASE("the verdict says what was measured and what was allowed") {
  CHECK(sentence(judged({9, 9.5, 10}, kBound)) ==
        "small-get: 0.95 of HAProxy's CPU per request (0.90 to 1.00 in 3 rounds), at most 0.88: "
        "BROKEN");
  CHECK(has(sentence(judged({8, 8, 8}, kBound)), ": kept"));
  CHECK(has(sentence(judged({8}, kBound)), "1 rounds were measured and 3 are needed"));
}

TEST_CASE("the status tells broken from unmeasured and from kept") {
  const OverloadStatus kept = judged({8, 8, 8}, kBound), broken = judged({9, 9, 9}, kBound),
                       unmeasured = judged({8}, kBound);
  CHECK(status_of({kept, kept}) == 0);
  CHECK(status_of({kept, broken}) == 1);
  CHECK(status_of({unmeasured, broken}) == 1);
  CHECK(status_of({kept, unmeasured}) == 2);
  CHECK(status_of({}) == 2);
}

TEST_CASE("bounds are read with comments and senseless ones are refused") {
  const auto read = bounds("// why\n{\"denied\": {\"ratio\": 0.8, \"margin\": 0.05}}");
  REQUIRE(read.size() == 1);
  CHECK(read[0].workload == "denied");
  CHECK(read[0].ratio == 0.8);
  CHECK(read[0].margin == 0.05);
  for (const char* senseless :
       {"{", "{\"denied\": {\"ratio\": 0.8}}", "{\"denied\": {\"ratio\": 0, \"margin\": 0.1}}",
        "{\"denied\": {\"ratio\": 1, \"margin\": -0.1}}",
        "{\"denied\": {\"ratio\": \"1\", \"margin\": 0.1}}"}) {
    CAPTURE(senseless);
    CHECK_THROWS_AS(bounds(senseless), std::runtime_error);
  }
}

TEST_CASE("the committed bounds are about the workloads that the gate measures") {
  std::ifstream file(SPILLWAY_SOURCE_DIR "/bench/gate.json");
  const auto committed = read_bounds(file);
  REQUIRE(committed.size() == 2);
  std::ifstream script(SPILLWAY_SOURCE_DIR "/bench/gate");
  const std::string text{std::istreambuf_iterator<char>(script), {}};
  for (const Bound& bound : committed) CHECK(has(text, "--workload " + bound.workload + " "));
}

}  // namespace spillway::report
