// The alerts of docs/operations.md, with Prometheus's own tool.
#include <yaml-cpp/yaml.h>

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "files.hpp"
#include "support/temporary_directory.hpp"

using namespace spillway::packaging;

namespace {

std::string rules_of_operators() {
  const auto blocks = matches(read("docs/operations.md"), "```yaml\n(groups:[^`]*)```");
  REQUIRE(blocks.size() == 1);
  return blocks.front();
}

}  // namespace

TEST_CASE("each alert that operators are given fires where it ought to and only there") {
  const spillway::support::TemporaryDirectory folder;
  folder.write("rules.yml", rules_of_operators());
  folder.write("alerts.yml", read("tests/repo/packaging/alerts.yml"));
  const std::string here = "cd " + shell_quoted(folder.path()) + " && ";
  const Finished checked = run(here + "promtool check rules rules.yml");
  CHECK_MESSAGE(checked.status == 0, checked.output);
  const Finished tested = run(here + "promtool test rules alerts.yml");
  CHECK_MESSAGE(tested.status == 0, tested.output);
}

TEST_CASE("no alert that operators are given is without its test and its control") {
  std::map<std::string, std::set<bool>> tests;  // by alert: whether it fires
  const YAML::Node file = YAML::Load(read("tests/repo/packaging/alerts.yml"));
  for (const auto& test : file["tests"])
    for (const auto& one : test["alert_rule_test"])
      tests[one["alertname"].as<std::string>()].insert(one["exp_alerts"].size() > 0);
  for (const std::string& alert : matches(rules_of_operators(), "alert: (\\w+)")) {
    CAPTURE(alert);
    CHECK(tests[alert].size() == 2);
  }
}

TEST_CASE("alerts ask for metrics with labels that there are") {
  const std::string documented = read("docs/observability.md");
  for (const std::string text : {rules_of_operators(), read("tests/repo/packaging/alerts.yml")}) {
    for (const std::string& metric : matches(text, "(spillway_\\w+)")) {
      CAPTURE(metric);
      CHECK(documented.find("\n| `" + metric + "` | ") != std::string::npos);
    }
    for (const std::string& series : matches(text, "(spillway_\\w+\\{[^}]*\\})")) {
      CAPTURE(series);
      const std::string metric = series.substr(0, series.find('{'));
      const std::size_t row = documented.find("\n| `" + metric + "` | ");
      REQUIRE(row != std::string::npos);
      const std::string line = documented.substr(row + 1, documented.find('\n', row + 1) - row - 1);
      for (const std::string& label : matches(series, "(\\w+)!?="))
        CHECK_MESSAGE(line.find("`" + label + "`") != std::string::npos, label);
    }
  }
}
