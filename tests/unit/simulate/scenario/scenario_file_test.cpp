// What a scenario file may say, and what its writer is told otherwise.
#include "simulate/scenario/scenario_file.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "config/file/load.hpp"
#include "simulate/scenario/built_in.hpp"
#include "support/places.hpp"
#include "unit/simulate/scenarios.hpp"

namespace spillway::simulate {
namespace {

const std::string kFolder = support::in_source("config/scenarios");

// Exactly one problem, there, whose message contains the fragment.
void check_problem(const std::string& text, const std::string& path, const std::string& fragment,
                   const config::Config* own = nullptr) {
  CAPTURE(text);
  const ScenarioResult result = read_scenario(text, "test.json", own);
  CAPTURE(listing(result.problems));
  CHECK_FALSE(result.scenario.has_value());
  REQUIRE(result.problems.size() == 1);
  CHECK(result.problems[0].path == path);
  CHECK(result.problems[0].message.find(fragment) != std::string::npos);
}

void check_problem_of(const std::string& members, const std::string& path,
                      const std::string& fragment) {
  check_problem(scenario_text(members), path, fragment);
}

}  // namespace

TEST_CASE("the built-in scenarios are the files of config scenarios") {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".json") files.insert(entry.path().stem().string());
  }
  CHECK(files.size() == built_in_scenarios().size());
  for (const BuiltIn& one : built_in_scenarios()) {
    CAPTURE(one.name);
    std::stringstream text;
    text << std::ifstream(kFolder + "/" + std::string(one.name) + ".json").rdbuf();
    CHECK(text.str() == one.json);
    CHECK(open_good(std::string(one.name)).name == one.name);
  }
}

TEST_CASE("the reference table of the scenarios is the code's") {
  std::stringstream text;
  text << std::ifstream(kFolder + "/README.md").rdbuf();
  const std::string readme = text.str();
  const std::string begin = "<!-- reference table: begin -->\n";
  const auto from = readme.find(begin);
  const auto to = readme.find("<!-- reference table: end -->");
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  const std::string table = scenario_reference();
  CHECK_MESSAGE(readme.substr(from + begin.size(), to - from - begin.size()) == table,
                "put the output of `spillway simulate --reference` between the markers");
}

TEST_CASE("the promised scenarios are built in") {
  for (const char* name :
       {"spike", "slow-backend", "capacity-drop", "noisy-tenant", "retry-storm", "bursty",
        "mix-shift", "latency-target", "number-too-high", "number-too-low", "budget", "lag",
        "error-burst", "cached-reads", "failing-client"}) {
    CHECK(open_good(name).clients.size() > 1);
  }
}

TEST_CASE("a scenario can be a file") {
  CHECK(open_good(kFolder + "/spike.json").sentence == open_good("spike").sentence);
}

TEST_CASE("an unknown scenario lists those there are and a near name") {
  const auto problem = [](const std::string& name) {
    const ScenarioResult result = open_scenario(name, nullptr);
    REQUIRE(result.problems.size() == 1);
    return result.problems[0].message;
  };
  CHECK(problem("spikes").find("did you mean \"spike\"?") != std::string::npos);
  CHECK(problem("nothing-like-it").find("built in: budget, bursty, ") != std::string::npos);
  CHECK(problem("/nonexistent/x.json").find("cannot read") != std::string::npos);
  CHECK(problem(support::in_source("config")).find("directory") != std::string::npos);
}

TEST_CASE("missing keys have the described defaults") {
  const Scenario scenario = scenario_of(R"("clients":[{"class":"P1","rate":5}])");
  CHECK(scenario.seed == 1);
  CHECK(scenario.backend.slots == 16);
  CHECK(scenario.clients[0].rate == 5);
  CHECK_FALSE(scenario.clients[0].timeout.has_value());
  CHECK(class_of(scenario, scenario.clients[0]) == ClassId{1});
  CHECK(route_of(scenario, scenario.clients[0]) == RouteId{0});
  CHECK_FALSE(scenario.clients[0].deadline.has_value());
}

TEST_CASE("clients of a route have its class and deadline and upstream") {
  const Scenario scenario = scenario_of(R"("clients":[{"route":"export","rate":5}])",
                                        R"(,"routes":[{"name":"other-one","match":{"path":"/a"}},
                    {"name":"export","match":{"path":"/b"},"priority":0,"deadline_ms":70}])");
  CHECK(class_of(scenario, scenario.clients[0]) == ClassId{2});
  CHECK(route_of(scenario, scenario.clients[0]) == RouteId{1});
  CHECK(scenario.config.routes[1].deadline == Milliseconds(70));
}

TEST_CASE("each slip is named with its JSON path") {
  check_problem_of(R"("clients":[{"class":"P3","rate":5}])", "$.clients[0].class",
                   "there is no such class: did you mean");
  check_problem_of(R"("clients":[{"route":"x","class":"P0","rate":5}])", "$.clients[0].route",
                   "there is no such route");
  check_problem_of(R"("clients":[{"rate":5}])", "$.clients[0].class", "name a class, a route");
  check_problem_of(R"("clients":[{"class":"P0"}])", "$.clients[0].rate", "required");
  check_problem_of(R"("clients":[{"class":"P0","rate":-1}])", "$.clients[0].rate", "found -1");
  check_problem_of(R"("clients":[{"class":"P0","rat":1,"rate":1}])", "$.clients[0].rat",
                   "unknown key: did you mean \"rate\"?");
  check_problem_of(R"("clients":[])", "$.clients", "found 0 elements");
  check_problem_of(R"("clients":[{"class":"P0","rate":1,"tenants":3}])", "$.clients[0].tenant",
                   "need a name");
  check_problem_of(R"("clients":[{"class":"P0","rate":1,"from_seconds":20}])",
                   "$.clients[0].from_seconds", "never come");
  check_problem_of(R"("clients":[{"class":"P0","rate":1,"from_seconds":3,"until_seconds":2}])",
                   "$.clients[0].until_seconds", "never come");
  check_problem_of(
      R"("clients":[{"class":"P0","rate":1,"burst":{"on_ms":0,"off_ms":1,"factor":2}}])",
      "$.clients[0].burst.on_ms", "found 0");
  check_problem_of(R"("changes":[{"at_seconds":3,"until_seconds":3}],
                      "clients":[{"class":"P0","rate":1}])",
                   "$.changes[0].until_seconds", "later than at_seconds");
  check_problem_of(R"("clients":[{"class":"P0","rate":1000000,"retries":9}])", "$.clients",
                   "too many to simulate");
}

TEST_CASE("the warm-up must end before the run does") {
  check_problem(R"({"name":"t","sentence":"s","seconds":5,"warm_up_seconds":5,
                    "clients":[{"class":"P0","rate":1}],
                    "config":{"upstreams":[{"name":"a","servers":["h:1"]}]}})",
                "$.warm_up_seconds", "allowed: less than $.seconds (5)");
}

TEST_CASE("an error in the inner configuration is reported once with its whole path") {
  check_problem(
      scenario_text(R"("clients":[{"class":"P0","rate":1}])", R"(,"dispatch":{"concurrency":0})"),
      "$.config.dispatch.concurrency", "found 0");
}

TEST_CASE("a syntax error has its place and a duplicate key its path") {
  check_problem("{\n  \"name\" 1}", "test.json:2:10", "");
  check_problem(scenario_text(R"("clients":[{"class":"P0","rate":1,"rate":2}])"),
                "$.clients[0].rate", "duplicate key");
}

TEST_CASE("one upstream is simulated and it is that of the clients") {
  const std::string routes = R"(,"routes":[{"name":"b","match":{"path":"/b"},"upstream":"app"}])";
  const auto text = [&](const std::string& clients) {
    std::string out = scenario_text(R"("clients":[)" + clients + "]", routes);
    const std::string list = R"("upstreams":[)";
    return out.insert(out.find(list) + list.size(), R"({"name":"two","servers":["h:2"]},)");
  };
  check_problem(text(R"({"route":"b","rate":1},{"class":"P0","route":"default","rate":1})"),
                "$.clients[1].route", "one upstream is simulated");
  const ScenarioResult result = read_scenario(text(R"({"route":"b","rate":1})"), "f", nullptr);
  REQUIRE_MESSAGE(result.scenario.has_value(), listing(result.problems));
  CHECK(result.scenario->upstream == UpstreamId{1});  // "app" is the second one
}

TEST_CASE("another configuration in place of the scenario's has classes of its own") {
  const auto own = config::load_text(
      R"({"upstreams":[{"name":"a","servers":["h:1"]}],
          "classes":[{"name":"gold"},{"name":"P1"}]})",
      "own.json");
  REQUIRE(own.config.has_value());
  const auto text = [](const std::string& name) {
    return scenario_text(R"("clients":[{"rate":1,"class":")" + name + R"("}])");
  };
  check_problem(text("P9"), "$.clients[0].class", "there is no such class", &*own.config);
  const ScenarioResult good = read_scenario(text("gold"), "test.json", &*own.config);
  REQUIRE_MESSAGE(good.scenario.has_value(), listing(good.problems));
  CHECK(good.scenario->config.classes.size() == 2);
  CHECK(good.scenario->config.upstreams[0].name == "a");
}

TEST_CASE("a configuration with an announced start is played without it, with a warning") {
  const auto warned = [](const std::string& start) {
    const auto own = config::load_text(
        R"({"upstreams":[{"name":"a","servers":["h:1"]}],"classes":[{"name":"gold"}],
            "routes":[{"name":"sale","match":{"path":"/**"},"upstream":"a","class":"gold",
                       "waiting_room":{)" +
            start + "}}]}",
        "own.json");
    REQUIRE_MESSAGE(own.config.has_value(), listing(own.problems));
    const ScenarioResult result = read_scenario(
        scenario_text(R"("clients":[{"rate":1,"class":"gold"}])"), "test.json", &*own.config);
    REQUIRE_MESSAGE(result.scenario.has_value(), listing(result.problems));
    return listing(result.warnings).find("waiting_room.opens_at") != std::string::npos;
  };
  CHECK(warned(R"("opens_at":"2030-01-01T10:00:00Z")"));
  CHECK_FALSE(warned(""));
}

}  // namespace spillway::simulate
