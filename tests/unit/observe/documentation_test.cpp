// docs/observability.md lists what there is: no more and no less.
#include <doctest/doctest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/reason.hpp"
#include "observe/count/server_failure.hpp"
#include "observe/log/log.hpp"
#include "observe/metrics/metric_collector.hpp"
#include "sample.hpp"
#include "support/places.hpp"
#include "touched.hpp"

namespace spillway::observe {
namespace {

// What stands between `<!-- NAME: begin -->` and its end.
std::string section(const std::string& name) {
  std::ifstream file(support::in_source("docs/observability.md"));
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  const std::string begin = "<!-- " + name + ": begin -->\n";
  const auto from = all.find(begin);
  const auto to = all.find("<!-- " + name + ": end -->");
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  return all.substr(from + begin.size(), to - from - begin.size());
}

// The names in backquotes in the first cell of each row, in order.
std::vector<std::string> rows(const std::string& name) {
  std::vector<std::string> names;
  std::istringstream lines(section(name));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string cell = line.substr(0, line.find(" |", 1));
    for (auto at = cell.find('`'); at != std::string::npos;) {
      const auto end = cell.find('`', at + 1);
      names.push_back(cell.substr(at + 1, end - at - 1));
      at = cell.find('`', end + 1);
    }
  }
  return names;
}

std::string_view name(prometheus::MetricType type) {
  if (type == prometheus::MetricType::Counter) return "counter";
  return type == prometheus::MetricType::Gauge ? "gauge" : "histogram";
}

// The table of these families, labels as the first sample has them.
std::string table(const std::vector<prometheus::MetricFamily>& families) {
  std::map<std::string, std::string> by_name;
  for (const prometheus::MetricFamily& family : families) {
    REQUIRE_MESSAGE(!family.metric.empty(), family.name);
    std::string labels;
    for (const auto& label : family.metric.front().label)
      labels += (labels.empty() ? "`" : ", `") + label.name + "`";
    by_name[family.name] = "| `" + family.name + "` | " + std::string(name(family.type)) + " | " +
                           labels + " | " + family.help + " |\n";
  }
  std::string text = "| metric | type | labels | what it says |\n| --- | --- | --- | --- |\n";
  for (const auto& [_, row] : by_name) text += row;
  return text;
}

// Every event once, with all members.
std::vector<nlohmann::json> all_events() {
  std::ostringstream out;
  {
    config::Log config;
    Log log(config, std::make_shared<spdlog::sinks::ostream_sink_mt>(out));
    log.started("0", 1);
    log.listening("proxy", "::", 1);
    log.transition("app", State::normal, State::overloaded, Reason::tail_latency, {});
    log.shedding_does_not_help("x", {});
    log.errors_of_one_source("x", {.left_out = overload::LeftOut{}});
    log.errors_of_one_source_ended("x", {});
    log.limit_at_max("x", 1000, {});
    log.limit_at_max_ended("x", {});
    log.server_failure({.address = "[::1]:1", .detail = "x"});
    log.local_shortage({.address = "[::1]:1", .detail = "x"});
    for (const auto what : {ServerEvent::ejected, ServerEvent::returned,
                            ServerEvent::circuit_opened, ServerEvent::circuit_closed,
                            ServerEvent::health_check_failed, ServerEvent::health_check_passed}) {
      const bool has_detail = what == ServerEvent::health_check_failed;
      log.server_event(what, "app", "a:1", "success", has_detail ? "503" : "");
    }
    log.temp_file_failed("/var/tmp", "x");
    log.untrusted_forwarding("10.0.0.5");
    for (const auto kind :
         {JobChange::Kind::cancelled, JobChange::Kind::replayed, JobChange::Kind::purged}) {
      log.jobs_changed({kind, "127.0.0.1", {}, 1});
    }
    log.job({.state = jobs::JobState::dead, .cause = jobs::Cause::failed, .status = 500});
    log.reloaded(2);
    log.reload_failed("$", "no");
    log.drain_delay(1, Milliseconds{1});
    log.draining(1, Milliseconds{1});
    log.stopped(Duration{1});
    log.message(Level::info, "x");
    log.room_changed({.act = RoomChange::Act::move,
                      .client = "x",
                      .room = "x",
                      .ticket = "x",
                      .number = 1,
                      .text = "x"});
    log.room_secret_replaced("x", 2, "x");
    log.ticket_cancelled("x", "x", "x");
    const overload::DecisionRecord decision{.predicted_wait = Duration{1}, .deadline = TimePoint{}};
    AccessLine access;
    access.request.peer = access.response.error = access.response.detail = access.upstream.server =
        access.response.mode = access.response.cache = "x";
    access.shadow = Outcome::denied;
    access.decision = &decision;
    log.access(access);
  }
  std::vector<nlohmann::json> lines;
  std::istringstream text(out.str());
  for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

}  // namespace

TEST_CASE("the tables of reasons and failures are complete and have nothing else") {
  std::vector<std::string> reasons, kinds;
  for (std::size_t r = 1; r < kReasonCount; ++r)
    reasons.emplace_back(spillway::name(static_cast<Reason>(r)));
  for (std::size_t k = 0; k < kServerFailureCount; ++k)
    kinds.emplace_back(name(static_cast<ServerFailure>(k)));
  CHECK(rows("reasons") == reasons);
  CHECK(rows("failures") == kinds);
}

TEST_CASE("the table of metrics equals the code's") {
  const config::Config config = sample_config();
  WorkerMetrics metrics(config);
  touch_everything(metrics);
  const MetricCollector collector(config, {&metrics}, [] { return sample_snapshot(); }, {"0", "0"});
  const std::string expected = table(collector.Collect());
  CHECK_MESSAGE(section("metrics") == expected,
                "put this between the markers of docs/observability.md:\n", expected);
}

TEST_CASE("the table of events is complete with levels and members") {
  std::set<std::string> events;
  for (const nlohmann::json& line : all_events()) {
    const std::string event = line["event"];
    events.insert(event);
    const std::string text = section("events");
    const auto at = text.find("| `" + event + "` | ");
    REQUIRE_MESSAGE(at != std::string::npos, event);
    const std::string row = text.substr(at, text.find('\n', at) - at);
    CAPTURE(row);
    if (event != "message") CHECK(row.find(line["level"].get<std::string>()) != std::string::npos);
    if (event == "access") continue;
    for (const auto& [key, _] : line.items()) {
      if (key == "time" || key == "level" || key == "event") continue;
      CHECK_MESSAGE(row.find("`" + key + "`") != std::string::npos, key);
    }
  }
  const std::vector<std::string> listed = rows("events");
  CHECK(std::set<std::string>(listed.begin(), listed.end()) == events);
}

TEST_CASE("the table of access members is complete and has nothing else") {
  const nlohmann::json line = all_events().back();
  std::set<std::string> members;
  for (const auto& [key, _] : line.items()) {
    if (key != "time" && key != "level" && key != "event") members.insert(key);
  }
  const std::vector<std::string> listed = rows("access");
  CHECK(std::set<std::string>(listed.begin(), listed.end()) == members);
  const std::string text = section("access");
  for (const auto& [key, _] : line["decision"].items())
    CHECK_MESSAGE(text.find("`" + key + "`") != std::string::npos, key);
}

}  // namespace spillway::observe
