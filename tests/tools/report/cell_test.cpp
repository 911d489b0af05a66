// The scripts of bench/cost, and one cell of each contender, measured for real.
#include <unistd.h>

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "tools/report/cells.hpp"

namespace spillway::report {
namespace {

namespace fs = std::filesystem;

const std::string kBench = SPILLWAY_SOURCE_DIR "/bench/";

// A file that is gone when the test is over.
struct Lines {
  fs::path path = fs::temp_directory_path() / ("spillway-bench-" + std::to_string(getpid()));
  ~Lines() { fs::remove(path); }
};

int run(const std::string& command) { return std::system((command + " 2>&1").c_str()); }

}  // namespace

TEST_CASE("every contender answers a small GET and what it cost is written down") {
  const Lines lines;
  const std::string measured = kBench + "cost/run.sh --quick --rounds 1 --workload small-get" +
                               " --programs " SPILLWAY_BINARY_DIR " --out " + lines.path.string();
  int status = -1;
  for (int tries = 0; tries < 3 && status != 0; ++tries) {  // other tests may take its core
    fs::remove(lines.path);
    status = run(measured);
  }
  REQUIRE(status == 0);
  std::ifstream file(lines.path);
  const Results results = read_results(file);
  std::set<std::string> contenders;
  for (const CostCell& cell : results.cost) {
    CAPTURE(cell.contender);
    contenders.insert(cell.contender);
    CHECK(cell.failure == "");
    CHECK(cell.rps.value_or(0) > 0);
    CHECK(cell.p99_ms.value_or(0) >= cell.p50_ms.value_or(0));
    const bool is_process = cell.contender != "direct";
    CHECK((cell.cpu_us.value_or(0) > 0) == is_process);
    CHECK((cell.rss_kib.value_or(0) > 0) == is_process);
  }
  CHECK(contenders == std::set<std::string>{"spillway", "haproxy", "nginx", "relay", "direct"});
}

TEST_CASE("connections of a paced workload rest after each answer and turns are put together") {
  const Lines lines;
  REQUIRE(run(kBench + "cost/run.sh --rounds 1 --seconds 2 --workload paced --contender spillway" +
              " --contender haproxy --programs " SPILLWAY_BINARY_DIR " --out " +
              lines.path.string()) == 0);
  std::ifstream file(lines.path);
  const Results results = read_results(file);
  REQUIRE(results.cost.size() == 2);
  for (const CostCell& cell : results.cost) {
    CAPTURE(cell.contender);
    CHECK(cell.seconds.value_or(0) >= 2);
    CHECK(cell.cpu_us.value_or(0) > 0);
    CHECK(cell.rps.value_or(0) > 0);
    CHECK(cell.rps.value_or(0) < 64 / 0.002);  // connections by what they rest on average
  }
}

TEST_CASE("a proxy that ends under load has no figures and the others have theirs") {
  const Lines lines;
  const fs::path programs = lines.path.string() + "-programs";
  fs::create_directory(programs);
  std::ofstream(programs / "spillway")
      << "#!/bin/sh\nexec timeout -s KILL 5 " SPILLWAY_BINARY_DIR "/spillway \"$@\"\n";
  fs::permissions(programs / "spillway", fs::perms::owner_all);
  const int status = run(kBench + "cost/run.sh --rounds 1 --seconds 6 --workload paced" +
                         " --contender spillway --contender haproxy --programs " +
                         programs.string() + " --out " + lines.path.string());
  fs::remove_all(programs);
  CHECK(WEXITSTATUS(status) == 1);
  std::ifstream file(lines.path);
  const Results results = read_results(file);
  REQUIRE(results.cost.size() == 2);
  for (const CostCell& cell : results.cost) {
    CAPTURE(cell.contender);
    CHECK((cell.failure == "") == (cell.contender == "haproxy"));
    CHECK(cell.cpu_us.has_value() == (cell.contender == "haproxy"));
  }
}

TEST_CASE("a workload or contender that does not exist is refused before anything is built") {
  for (const char* options :
       {"--workload nonsense", "--contender nonsense", "--rounds 0", "--seconds", "--nonsense"}) {
    CAPTURE(options);
    CHECK(WEXITSTATUS(run(kBench + "cost/run.sh " + options + " > /dev/null")) == 2);
  }
}

}  // namespace spillway::report
