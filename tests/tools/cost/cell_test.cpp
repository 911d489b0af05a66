// The scripts of bench/cost, and one cell of each contender, measured for real.
#include <unistd.h>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "support/places.hpp"

namespace spillway::bench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kBench = support::in_source("bench/");

// A file that is gone when the test is over.
struct Lines {
  fs::path path = fs::temp_directory_path() / ("spillway-bench-" + std::to_string(getpid()));
  ~Lines() { fs::remove(path); }
};

std::vector<json> cells_in(const Lines& lines) {
  std::vector<json> cells;
  std::ifstream file(lines.path);
  for (std::string line; std::getline(file, line);) cells.push_back(json::parse(line));
  return cells;
}

// 0 of a figure that was not measured.
double figure(const json& cell, const char* name) { return cell.value(name, 0.0); }

int run(const std::string& command) { return std::system((command + " 2>&1").c_str()); }

}  // namespace

TEST_CASE("every contender answers a small GET and what it cost is written down") {
  const Lines lines;
  const std::string measured = kBench + "cost/run.sh --quick --rounds 1 --workload small-get" +
                               " --programs " + support::in_build() + " --out " +
                               lines.path.string();
  int status = -1;
  for (int tries = 0; tries < 3 && status != 0; ++tries) {  // other tests may take its core
    fs::remove(lines.path);
    status = run(measured);
  }
  REQUIRE(status == 0);
  const std::vector<json> cells = cells_in(lines);
  std::set<std::string> contenders;
  for (const json& cell : cells) {
    const std::string contender = cell.at("contender");
    CAPTURE(contender);
    contenders.insert(contender);
    CHECK_FALSE(cell.contains("failure"));
    CHECK(figure(cell, "rps") > 0);
    CHECK(figure(cell, "p99_ms") >= figure(cell, "p50_ms"));
    const bool is_process = contender != "direct";
    CHECK((figure(cell, "cpu_us") > 0) == is_process);
    CHECK((figure(cell, "rss_kib") > 0) == is_process);
  }
  CHECK(contenders == std::set<std::string>{"spillway", "haproxy", "nginx", "relay", "direct"});
}

TEST_CASE("connections of a paced workload rest after each answer and turns are put together") {
  const Lines lines;
  REQUIRE(run(kBench + "cost/run.sh --rounds 1 --seconds 2 --workload paced --contender spillway" +
              " --contender haproxy --programs " + support::in_build() + " --out " +
              lines.path.string()) == 0);
  const std::vector<json> cells = cells_in(lines);
  REQUIRE(cells.size() == 2);
  for (const json& cell : cells) {
    const std::string contender = cell.at("contender");
    CAPTURE(contender);
    CHECK(figure(cell, "seconds") >= 2);
    CHECK(figure(cell, "cpu_us") > 0);
    CHECK(figure(cell, "rps") > 0);
    CHECK(figure(cell, "rps") < 64 / 0.002);  // connections by what they rest on average
  }
}

TEST_CASE("a proxy that ends under load has no figures and the others have theirs") {
  const Lines lines;
  const fs::path programs = lines.path.string() + "-programs";
  fs::create_directory(programs);
  std::ofstream(programs / "spillway")
      << "#!/bin/sh\nexec timeout -s KILL 5 " + support::in_build("spillway") + " \"$@\"\n";
  fs::permissions(programs / "spillway", fs::perms::owner_all);
  const int status = run(kBench + "cost/run.sh --rounds 1 --seconds 6 --workload paced" +
                         " --contender spillway --contender haproxy --programs " +
                         programs.string() + " --out " + lines.path.string());
  fs::remove_all(programs);
  CHECK(WEXITSTATUS(status) == 1);
  const std::vector<json> cells = cells_in(lines);
  REQUIRE(cells.size() == 2);
  for (const json& cell : cells) {
    const std::string contender = cell.at("contender");
    CAPTURE(contender);
    CHECK(cell.contains("failure") == (contender == "spillway"));
    CHECK(cell.contains("cpu_us") == (contender == "haproxy"));
  }
}

TEST_CASE("a workload or contender that does not exist is refused before anything is built") {
  for (const char* options :
       {"--workload nonsense", "--contender nonsense", "--rounds 0", "--seconds", "--nonsense"}) {
    CAPTURE(options);
    CHECK(WEXITSTATUS(run(kBench + "cost/run.sh " + options + " > /dev/null")) == 2);
  }
}

}  // namespace spillway::bench
