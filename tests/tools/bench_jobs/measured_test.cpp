// bench/jobs itself, a second of each figure: it measures what it says.
#include <unistd.h>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bench/jobs/empty_stores.hpp"
#include "bench/jobs/proxy.hpp"
#include "support/places.hpp"
#include "support/postgres.hpp"

namespace spillway::job_bench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kScript = support::in_source("bench/jobs/run.sh");
const Programs kPrograms{.spillway = support::in_build("spillway"),
                         .load = support::in_source("bench/cost/load.lua")};
constexpr std::chrono::milliseconds kSecond{1000};

struct Measured {
  int status = 0;
  std::vector<json> cells;
};

Measured measure(const std::string& options) {
  const fs::path file =
      fs::temp_directory_path() / ("spillway-bench-jobs-" + std::to_string(getpid()));
  const std::string command = kScript + " --quick --programs " + support::in_build() + " --out " +
                              file.string() + " " + options + " 2>&1";
  Measured measured;
  measured.status = WEXITSTATUS(std::system(command.c_str()));
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) measured.cells.push_back(json::parse(line));
  fs::remove(file);
  return measured;
}

const json& cell_of(const Measured& measured, const std::string& what, const std::string& contender,
                    std::size_t outstanding, std::size_t pending = 0) {
  for (const json& cell : measured.cells) {
    if (cell.at("what") == what && cell.at("contender") == contender &&
        cell.at("outstanding") == outstanding && cell.at("pending") == pending) {
      return cell;
    }
  }
  throw std::runtime_error("there is no " + what + " of " + contender);
}

}  // namespace

TEST_CASE("every 202 that is counted is a job in the store") {
  EmptyStores stores(StoreKind::postgres);
  const std::string url = stores.next();
  Proxy proxy(kPrograms, url);
  const Figures figures = proxy.accept(16, kSecond);
  const double written = std::stod(support::Postgres::ask(url, "SELECT count(*) FROM job"));
  CHECK(figures.per_second > 0);
  CHECK(figures.per_second <= written * 1.05);
  CHECK(figures.p99_ms >= figures.median_ms);
  CHECK(*figures.jobs_per_commit > 1);
  CHECK(*figures.commit_ms > 0);
  CHECK(proxy.memory_kib() > 1000);
}

// The negative control: a proxy that forwards what it should defer.
TEST_CASE("without jobs written down there is no figure") {
  const fs::path program =
      fs::temp_directory_path() / ("spillway-forwarding-" + std::to_string(getpid()));
  std::ofstream(program) << "#!/bin/sh\nsed -i 's/\"always\"/\"prefer\"/' \"$3\"\n"
                            "exec " +
                                support::in_build("spillway") + " \"$@\"\n";
  fs::permissions(program, fs::perms::owner_all);
  Programs programs = kPrograms;
  programs.spillway = program;
  EmptyStores stores(StoreKind::sqlite);
  Proxy proxy(programs, stores.next());
  CHECK_THROWS_WITH_AS(proxy.accept(4, kSecond), doctest::Contains("0 jobs written"),
                       std::runtime_error);
  fs::remove(program);
}

TEST_CASE("each queue has a line for each number outstanding") {
  const Measured measured = measure(
      "--suite accept --contender http-sqlite --contender store-sqlite --contender plain"
      " --contender store-sqlite-keys --contender disk --outstanding 1 --outstanding 16");
  CHECK(measured.status == 0);
  REQUIRE(measured.cells.size() == 10);
  for (const json& cell : measured.cells) {
    CAPTURE(cell.dump());
    CHECK(cell.at("per_second") > 0);
    CHECK(cell.at("p99_ms") >= cell.at("p50_ms"));
    CHECK(cell.contains("jobs_per_commit") == (cell.at("contender") == "http-sqlite"));
  }
  // One at a time there is nothing to share a commit with.
  CHECK(cell_of(measured, "accept", "http-sqlite", 1).at("jobs_per_commit") < 1.2);
  CHECK(cell_of(measured, "accept", "http-sqlite", 16).at("jobs_per_commit") > 1.5);
}

TEST_CASE("a deep queue has its claims and its start and the proxy goes on to take jobs") {
  const Measured measured = measure(
      "--suite depth --contender store-sqlite --contender plain --most-pending 1000"
      " --lanes 300");
  CHECK(measured.status == 0);
  for (const std::size_t pending : {0, 100, 1000}) {
    for (const std::size_t together : {1, 64, 256}) {
      CHECK(cell_of(measured, "lease", "store-sqlite", together, pending).at("per_second") > 0);
    }
  }
  CHECK(cell_of(measured, "start", "store-sqlite", 0, 1000).at("start_ms") > 0);
  CHECK(cell_of(measured, "accept", "http-sqlite", 64, 1000).at("per_second") > 0);
  std::size_t of_many_lanes = 0;
  for (const json& cell : measured.cells) {
    if (!cell.contains("lanes")) continue;
    ++of_many_lanes;
    CHECK(cell.at("lanes") == 300);
    CHECK(cell.at("pending") == 1000);
  }
  CHECK(of_many_lanes == 5);  // claims of 1, 64 and 256, the start, and 202s
}

TEST_CASE("a loop is measured in windows, without and with a snapshot") {
  const Measured measured = measure("--suite loop --contender plain --contender disk --window 1");
  CHECK(measured.status == 0);
  REQUIRE(measured.cells.size() == 8);
  for (const json& cell : measured.cells) CHECK(cell.at("per_second") > 0);
  CHECK(measured.cells.back().at("what") == "pinned-loop");
  CHECK(measured.cells.back().at("after_s") == 4);
}

TEST_CASE("a broker that is installed confirms and one that is not is named") {
  const Measured measured =
      measure("--suite accept --contender rabbitmq-quorum --contender nats --outstanding 16");
  CHECK(measured.status == 0);
  REQUIRE(measured.cells.size() == 2);
  for (const json& cell : measured.cells) {
    CAPTURE(cell.dump());
    CHECK(cell.contains("skipped") != cell.contains("per_second"));
  }
}

}  // namespace spillway::job_bench
