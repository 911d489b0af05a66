// What is counted and written down of a queue.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "bench/jobs/cell.hpp"
#include "bench/jobs/contender.hpp"
#include "bench/jobs/play.hpp"
#include "support/temporary_directory.hpp"

namespace spillway::job_bench {

TEST_CASE("the 99th percentile is that of the times, in whatever order they came") {
  std::vector<double> times;
  for (int n = 199; n >= 0; --n) times.push_back(n);
  const Figures figures = figures_of(times, 4, 1000);
  CHECK(figures.per_second == 250);
  CHECK(figures.median_ms == 100);
  CHECK(figures.p99_ms == 198);
  std::vector<double> none;
  CHECK(figures_of(none, 4, 0).per_second == 0);
}

TEST_CASE("a line has what identifies the cell and no figure that was not measured") {
  const Cell cell{.what = "accept", .contender = "http-sqlite", .round = 2, .outstanding = 64};
  Figures figures{.per_second = 1234.5678, .median_ms = 0.25, .p99_ms = 1.5};
  auto line = nlohmann::json::parse(result_line(cell, {.figures = figures}));
  CHECK(line.at("suite") == "jobs");
  CHECK(line.at("outstanding") == 64);
  CHECK(line.at("pending") == 0);
  CHECK(line.at("per_second") == 1234.568);
  CHECK(line.at("p99_ms") == 1.5);
  for (const char* absent : {"jobs_per_commit", "start_ms", "rss_kib", "failure", "skipped"}) {
    CHECK_FALSE(line.contains(absent));
  }
  line = nlohmann::json::parse(result_line(cell, {.failure = "it \"ended\""}));
  CHECK(line.at("failure") == "it \"ended\"");
  CHECK_FALSE(line.contains("per_second"));
}

TEST_CASE("a line says over how many lanes its jobs are spread if they are many") {
  Cell cell{.what = "lease", .contender = "store-sqlite"};
  CHECK_FALSE(nlohmann::json::parse(result_line(cell, {})).contains("lanes"));
  cell.lanes = 100'000;
  CHECK(nlohmann::json::parse(result_line(cell, {})).at("lanes") == 100'000);
}

TEST_CASE("a contender that there is not is refused") {
  CHECK_THROWS_AS(make_queue("nonsense", {}), std::invalid_argument);
  for (const std::string& name : contender_names()) CHECK_NOTHROW(why_missing(name));
}

TEST_CASE("a broker that is not installed is named and not a failure") {
  const support::TemporaryDirectory programs;
  std::filesystem::create_symlink("/bin/sh", programs.path() / "sh");
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", programs.path().c_str(), 1);
  std::vector<Outcome> outcomes;
  play(
      {.suites = {"accept"}, .contenders = {"nats"}, .outstanding = {1}},
      [&](const Cell&, const Outcome& outcome) { outcomes.push_back(outcome); },
      [] { return false; });
  ::setenv("PATH", before.c_str(), 1);
  REQUIRE(outcomes.size() == 1);  // once, not in each round
  CHECK(outcomes[0].skipped.starts_with("nats-server is not installed"));
  CHECK(outcomes[0].failure.empty());
}

}  // namespace spillway::job_bench
