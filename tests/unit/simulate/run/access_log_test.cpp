// An access log as traffic: what is taken from it, and what its reader is told otherwise.
#include "simulate/run/access_log.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "config/file/load.hpp"
#include "simulate/run/simulation.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

config::Config configuration(const std::string& concurrency = "8") {
  auto result = config::load_text(
      R"({"upstreams":[{"name":"app","servers":["h:1"]},{"name":"two","servers":["h:2"]}],
          "dispatch":{"concurrency":)" +
          concurrency + R"(},
          "default_route":{"class":"P1","upstream":"app"},
          "routes":[{"name":"pay","match":{"path":"/pay"},"class":"P0","upstream":"app"},
                    {"name":"far","match":{"path":"/far"},"class":"P2","upstream":"two"}]})",
      "own.json");
  REQUIRE_MESSAGE(result.config.has_value(), listing(result.problems));
  return std::move(*result.config);
}

// As the log has it.
std::string line(const std::string& second, const std::string& route, const std::string& id,
                 double wait_ms, double duration_ms, const std::string& more = "") {
  return R"({"time":"2026-11-23T23:59:)" + second + R"(Z","level":"info","event":"access",)" +
         R"("method":"GET","path":"/a","route":")" + route + R"(","class":")" + id +
         R"(","tenant":"10.0.0.1","status":200,"outcome":"forwarded","reason":"","wait_ms":)" +
         std::to_string(wait_ms) + R"(,"duration_ms":)" + std::to_string(duration_ms) + more +
         "}\n";
}

ScenarioResult read(const std::string& text, const Told& told = {}) {
  std::istringstream in(text);
  static const config::Config config = configuration();
  return read_access_log(in, "a.log", config, told);
}

void check_problem(const std::string& text, const std::string& path, const std::string& fragment,
                   const Told& told = {}) {
  const ScenarioResult result = read(text, told);
  CAPTURE(listing(result.problems));
  CHECK_FALSE(result.scenario.has_value());
  REQUIRE(result.problems.size() == 1);
  CHECK(result.problems[0].path == path);
  CHECK(result.problems[0].message.find(fragment) != std::string::npos);
}

}  // namespace

TEST_CASE("requests of a log arrive when they did and not when they ended") {
  const ScenarioResult result =
      read(line("10.000", "pay", "P0", 0, 100) + R"({"event":"state_transition"})" + "\n\n" +
           line("12.500", "default", "P1", 100, 2600) + line("13.000", "pay", "P0", 0, 100));
  REQUIRE_MESSAGE(result.scenario.has_value(), listing(result.problems));
  const Scenario& scenario = *result.scenario;
  REQUIRE(scenario.logged->size() == 3);
  // 9.900, 9.900 and 12.900.
  CHECK((*scenario.logged)[1].at < 1e-6);
  CHECK((*scenario.logged)[2].at == doctest::Approx(3.0));
  CHECK(scenario.seconds == 3);
  CHECK(scenario.clients.size() == 2);
  CHECK(scenario.backend.slots == 8);
  // 100, 2500 and 100 ms.
  CHECK(scenario.backend.service == Milliseconds{900});
  CHECK(scenario.clients[0].service_factor == doctest::Approx(0.1 / 0.9));
}

TEST_CASE("a replay has the log's requests with and without shedding") {
  std::string text;
  for (int i = 0; i < 50; ++i) {
    const std::string second = std::to_string(10 + i);
    for (int n = 0; n < 20; ++n)
      text +=
          line(second + ".000", n % 4 == 0 ? "pay" : "default", n % 4 == 0 ? "P0" : "P1", 0, 50);
  }
  const ScenarioResult result = read(text);
  REQUIRE_MESSAGE(result.scenario.has_value(), listing(result.problems));
  for (const bool shedding : {true, false}) {
    const Recording recording = simulate(*result.scenario, shedding);
    CHECK(recording.classes[0].counts.offered == 5 * 44);
    CHECK(recording.classes[1].counts.offered == 15 * 44);
    CHECK(recording.seconds[10].classes[1].offered == 15);
  }
  CHECK(size_of(*result.scenario).offered == doctest::Approx(20).epsilon(0.05));
}

TEST_CASE("requests of other upstreams are left out and said to be") {
  const ScenarioResult result =
      read(line("10.000", "pay", "P0", 0, 100) + line("11.000", "far", "P2", 0, 100));
  REQUIRE(result.scenario.has_value());
  CHECK(result.scenario->logged->size() == 1);
  CHECK(listing(result.warnings).find("1 requests went to other upstreams") != std::string::npos);
}

TEST_CASE("a line that is not understood is named with its number") {
  const std::string good = line("10.000", "pay", "P0", 0, 100);
  check_problem(good + "GET / HTTP/1.1\n", "a.log:2", "no JSON object");
  check_problem(good + "\n[]\n", "a.log:3", "no JSON object");
  check_problem(line("10.000", "other", "P0", 0, 1), "a.log:1",
                R"(route: the configuration has no "other")");
  check_problem(line("10.000", "pay", "P9", 0, 1), "a.log:1",
                R"(class: the configuration has no "P9")");
  check_problem(line("1x.000", "pay", "P0", 0, 1), "a.log:1", "time: found");
  check_problem(line("10.", "pay", "P0", 0, 1), "a.log:1",
                "expected such as 2026-01-31T23:59:59.999Z");
  check_problem(R"({"event":"access","route":"pay"})", "a.log:1", "tenant: missing");
  check_problem(line("10.000", "pay", "P0", 0, -1), "a.log:1",
                "duration_ms: missing, or no number");
  check_problem(std::string(100'000, 'x'), "a.log:1", "longer than 65536 bytes");
}

TEST_CASE("a log without what the model needs is refused") {
  const std::string good = line("10.000", "pay", "P0", 0, 100);
  check_problem("", "--from-log", "no access line");
  check_problem(good, "--rps", "the log says", {{}, {}, 5.0});
  std::string denied = good;
  denied.replace(denied.find("forwarded"), 9, "denied");
  check_problem(denied, "--service-ms", "missing");
  CHECK(read(denied, {{}, Milliseconds{20}, {}}).scenario->backend.service == Milliseconds{20});
  std::istringstream in(good);
  const config::Config automatic = configuration("\"auto\"");
  CHECK(read_access_log(in, "a.log", automatic, {}).problems[0].path == "--slots");
}

TEST_CASE("a log that is a pipe is read while something comes and not waited for otherwise") {
  const std::string pipe =
      (std::filesystem::temp_directory_path() / ("spillway-log-" + std::to_string(getpid())))
          .string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const ScenarioResult silent = open_access_log(pipe, configuration(), {});
  CHECK_FALSE(silent.scenario);
  CHECK(listing(silent.problems).find("nothing came for 2000 ms") != std::string::npos);
  std::thread writer([&] { std::ofstream(pipe) << line("10.000", "pay", "P0", 0, 100); });
  const ScenarioResult sent = open_access_log(pipe, configuration(), {});
  writer.join();
  std::filesystem::remove(pipe);
  CHECK(sent.scenario);
  CHECK(listing(open_access_log(pipe, configuration(), {}).problems).find("No such file") !=
        std::string::npos);
}

}  // namespace spillway::simulate
