#include "observe/log/log.hpp"

#include <doctest/doctest.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/ostream_sink.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace spillway::observe {
namespace {

// Runs `write` on a log and parses what came out, line by line.
template <class Write>
std::vector<nlohmann::json> lines_of(Write write, const config::Log& config = {}) {
  std::ostringstream out;
  {
    Log log(config, std::make_shared<spdlog::sinks::ostream_sink_mt>(out));
    write(log);
  }
  std::vector<nlohmann::json> lines;
  std::istringstream text(out.str());
  for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

// An output that hangs until it is let go.
class StuckSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  void let_go() {
    const std::lock_guard lock(gate_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_until_stuck() {
    std::unique_lock lock(gate_);
    changed_.wait(lock, [this] { return stuck_; });
  }

 private:
  void sink_it_(const spdlog::details::log_msg&) override {
    std::unique_lock lock(gate_);
    stuck_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void flush_() override {}

  std::mutex gate_;
  std::condition_variable changed_;
  bool open_ = false;
  bool stuck_ = false;
};

TEST_CASE("every event is one JSON object with time and level") {
  const auto lines = lines_of([](Log& log) {
    log.started("0.1.0", 4);
    log.listening("proxy", "127.0.0.1", 8080);
    log.draining(12, Milliseconds{30000});
    log.stopped(std::chrono::seconds{5});
    log.reloaded(2);
    log.reload_failed("$.workers", "found 3");
    log.message(Level::error, "no room");
    log.drain_delay(12, Milliseconds{5000});
  });
  REQUIRE(lines.size() == 8);
  const std::regex iso8601(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)");
  for (const auto& line : lines) CHECK(std::regex_match(line["time"].get<std::string>(), iso8601));
  CHECK(lines[0]["event"] == "started");
  CHECK(lines[0]["level"] == "info");
  CHECK(lines[0]["workers"] == 4);
  CHECK(lines[1]["listener"] == "proxy");
  CHECK(lines[1]["port"] == 8080);
  CHECK(lines[2]["timeout_ms"] == 30000);
  CHECK(lines[4]["generation"] == 2);
  CHECK(lines[5]["level"] == "error");
  CHECK(lines[6]["message"] == "no room");
  CHECK(lines[7]["delay_ms"] == 5000);
}

TEST_CASE("a state transition is logged with the signals that caused it") {
  overload::OverloadSignals signals;
  signals.inflight_ratio = 0.97;
  signals.queue_wait_p95 = 0.25;
  const auto lines = lines_of([&](Log& log) {
    log.transition("app", overload::State::normal, overload::State::overloaded,
                   Reason::queue_wait_risk, signals);
    log.transition("app", overload::State::overloaded, overload::State::normal,
                   Reason::queue_wait_risk, signals);
  });
  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["level"] == "warn");
  CHECK(lines[0]["upstream"] == "app");
  CHECK(lines[0]["from"] == "NORMAL");
  CHECK(lines[0]["to"] == "OVERLOADED");
  CHECK(lines[0]["reason"] == "QUEUE_WAIT_RISK");
  CHECK(lines[0]["signals"]["inflight_ratio"] == 0.97);
  CHECK(lines[0]["signals"]["queue_wait_p95_ms"] == 250);
  CHECK_FALSE(lines[0]["signals"].contains("latency_p95_ms"));
  CHECK(lines[1]["level"] == "info");
}

TEST_CASE("errors of one source are an event with its name") {
  const auto lines = lines_of([](Log& log) {
    overload::OverloadSignals signals;
    signals.error_rate = 0;
    signals.total_error_rate = 0.25;
    signals.left_out = overload::LeftOut{.kind = overload::SourceKind::path,
                                         .name = overload::SourceName("/boom"),
                                         .failed = 20,
                                         .finished = 21};
    log.errors_of_one_source("app", signals);
    log.errors_of_one_source_ended("app", signals);
  });
  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["event"] == "errors_of_one_source");
  CHECK(lines[0]["level"] == "warn");
  CHECK(lines[0]["source"] == "path");
  CHECK(lines[0]["name"] == "/boom");
  CHECK(lines[0]["sources"] == 1);
  CHECK(lines[0]["failed"] == 20);
  CHECK(lines[0]["finished"] == 21);
  CHECK(lines[0]["signals"]["total_error_rate"] == 0.25);
  CHECK(lines[1]["event"] == "errors_of_one_source_ended");
  CHECK(lines[1]["level"] == "info");
}

TEST_CASE("a found limit that stands at its bound is an event with that bound") {
  const auto lines = lines_of([](Log& log) {
    log.limit_at_max("app", 1000, {});
    log.limit_at_max_ended("app", {});
  });
  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["event"] == "limit_at_max");
  CHECK(lines[0]["level"] == "warn");
  CHECK(lines[0]["upstream"] == "app");
  CHECK(lines[0]["max"] == 1000);
  CHECK(lines[0].contains("signals"));
  CHECK(lines[1]["event"] == "limit_at_max_ended");
  CHECK(lines[1]["level"] == "info");
}

TEST_CASE("state changes of a server are events with names and a reason") {
  const auto lines = lines_of([](Log& log) {
    log.server_event(ServerEvent::ejected, "app", "10.0.0.1:80", "reset");
    log.server_event(ServerEvent::circuit_closed, "app", "10.0.0.1:80", "success");
    log.server_failure({.upstream = "app",
                        .server = "10.0.0.1:80",
                        .address = "10.0.0.1:80",
                        .kind = ServerFailure::refused,
                        .detail = "Connection refused",
                        .left_out = 12});
    log.server_failure({.server = "localhost:80", .address = "[::1]:80"});
  });
  REQUIRE(lines.size() == 4);
  CHECK(lines[0]["event"] == "server_ejected");
  CHECK(lines[0]["level"] == "warn");
  CHECK(lines[0]["upstream"] == "app");
  CHECK(lines[0]["server"] == "10.0.0.1:80");
  CHECK(lines[0]["reason"] == "reset");
  CHECK(lines[1]["event"] == "circuit_closed");
  CHECK(lines[1]["level"] == "info");
  CHECK(lines[2]["event"] == "server_failure");
  CHECK(lines[2]["reason"] == "refused");
  CHECK(lines[2]["detail"] == "Connection refused");
  CHECK(lines[2]["left_out"] == 12);
  CHECK_FALSE(lines[2].contains("address"));  // the server is configured as that
  CHECK(lines[3]["address"] == "[::1]:80");
}

TEST_CASE(
    "of peers that are not trusted and send X-Forwarded-For the first three are told of once") {
  const auto lines = lines_of([](Log& log) {
    CHECK(log.tells_untrusted_forwarding());
    for (const char* peer : {"10.0.0.5", "10.0.0.5", "10.0.0.6", "::1", "10.0.0.7", "10.0.0.5"})
      log.untrusted_forwarding(peer);
    CHECK_FALSE(log.tells_untrusted_forwarding());
  });
  REQUIRE(lines.size() == 3);
  CHECK(lines[0]["event"] == "untrusted_forwarding");
  CHECK(lines[0]["level"] == "warn");
  CHECK(lines[0]["peer"] == "10.0.0.5");
  CHECK(lines[0]["message"] ==
        "10.0.0.5 sends X-Forwarded-For and is not in trusted_peers: its forwarding fields are "
        "ignored");
  CHECK(lines[1]["peer"] == "10.0.0.6");
  CHECK(lines[2]["peer"] == "::1");
}

TEST_CASE("an access line survives whatever the client sent") {
  std::string path = "/a\"\\\r\n\x1b[31m\xff{\"event\":\"forged\"}";
  path += std::string(100'000, '\x01');
  AccessLine access;
  access.request.method = "GET";
  access.request.path = path;
  access.request.route = "search";
  access.request.traffic_class = "P1";
  access.response.status = 503;
  access.outcome = Outcome::denied;
  access.reason = Reason::queue_full;
  access.wait = std::chrono::microseconds{1500};
  access.duration = Milliseconds{2};
  access.request.id = "abc";
  access.response.bytes = 321;
  const auto lines = lines_of([&](Log& log) { log.access(access); });
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["event"] == "access");
  CHECK(lines[0]["path"].get<std::string>().starts_with("/a\"\\\r\n\x1b[31m\ufffd{\"event\""));
  CHECK(lines[0]["status"] == 503);
  CHECK(lines[0]["outcome"] == "denied");
  CHECK(lines[0]["reason"] == "QUEUE_FULL");
  CHECK(lines[0]["wait_ms"] == 1.5);
  CHECK(lines[0]["bytes"] == 321);
}

TEST_CASE("an access line of the most hostile client keeps all its members") {
  const std::string hostile(100'000, '\x01');
  AccessLine access;
  access.request.method = hostile;
  access.request.path = hostile;
  access.request.id = hostile;
  access.request.tenant = hostile;
  const std::string address = "2001:db8:1111:2222:3333:4444:5555:6666";
  const std::string host = std::string(253, 'h') + ":65535";
  const std::string longest_name(64, 'n');
  access.request.route = access.request.traffic_class = longest_name;
  access.request.client = access.request.peer = address;
  access.upstream.server = host;
  access.response.error = "http_response_header_section_size";
  access.response.detail = std::string_view(
      "The service is busy and answers only from what it has stored, "
      "where this is not. Please try again later.");
  access.response.mode = "skip_downstream";
  access.response.cache = "collapsed";
  access.shadow = Outcome::degraded;
  overload::DecisionRecord decision;
  decision.state = State::overloaded;
  decision.overload = Reason::inflight_saturation;
  decision.rule = config::Strategy::deny;
  decision.verdict = overload::Verdict::Kind::allow_if_short_wait;
  decision.reason = Reason::inflight_saturation;
  decision.probability = 0.5;
  decision.draw = 0.25;
  decision.predicted_wait = Milliseconds{30};
  decision.deadline = TimePoint{} + Milliseconds{1000};
  decision.limit = 64;
  access.decision = &decision;
  const auto lines = lines_of([&](Log& log) { log.access(access); });
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["path"].get<std::string>().size() == 256);
  CHECK(lines[0].contains("bytes"));
  CHECK(lines[0]["client"] == address);
  CHECK(lines[0]["peer"] == address);
  CHECK(lines[0]["server"] == host);
  CHECK(lines[0]["attempts"] == 0);
  CHECK(lines[0]["cache"] == "collapsed");
  CHECK(lines[0]["shadow"] == "degraded");
  CHECK(lines[0]["tenant"].get<std::string>().size() == 64);
  const auto& told = lines[0]["decision"];
  CHECK(told["state"] == "OVERLOADED");
  CHECK(told["overload"] == "INFLIGHT_SATURATION");
  CHECK(told["rule"] == "deny");
  CHECK(told["verdict"] == "allow_if_short_wait");
  CHECK(told["probability"] == 0.5);
  CHECK(told["draw"] == 0.25);
  CHECK(told["predicted_wait_ms"] == 30);
  CHECK(told["deadline_ms"] == 1000);
  CHECK(told["limit"] == 64);
}

TEST_CASE("lines below the configured level are not written") {
  config::Log config;
  config.level = "warn";
  const auto lines = lines_of(
      [](Log& log) {
        log.started("0.1.0", 1);
        log.access({});
        log.reload_failed("$.workers", "found 3");
      },
      config);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["event"] == "reload_failed");
  CHECK(lines[0]["path"] == "$.workers");
}

TEST_CASE("a stuck output makes the log lose lines and count them but never wait") {
  const auto sink = std::make_shared<StuckSink>();
  Log log({}, sink, 16);
  log.reloaded(2);
  sink->wait_until_stuck();  // that line is out of the queue now
  for (int i = 0; i < 116; ++i) log.message(Level::info, "more");
  CHECK(log.dropped() == 100);
  sink->let_go();
}

TEST_CASE("at the end of the process a burst beyond the queue waits for the output") {
  const auto sink = std::make_shared<StuckSink>();
  Log log({}, sink, 16);
  log.reloaded(2);
  sink->wait_until_stuck();
  log.lose_none(Milliseconds{10000});
  std::promise<void> written;
  std::future<void> end = written.get_future();
  std::thread burst([&] {
    for (int i = 0; i < 116; ++i) log.message(Level::info, "more");
    written.set_value();
  });
  CHECK(end.wait_for(Milliseconds{50}) == std::future_status::timeout);
  sink->let_go();
  CHECK(end.wait_for(std::chrono::seconds(10)) == std::future_status::ready);
  burst.join();
  CHECK(log.dropped() == 0);
}

TEST_CASE("at the end of the process the burst of one thread leaves the others their patience") {
  const auto sink = std::make_shared<StuckSink>();
  Log log({}, sink, 16);
  log.reloaded(2);
  sink->wait_until_stuck();
  log.lose_none(Milliseconds{20});
  std::thread burst([&] {
    for (int i = 0; i < 116; ++i) log.message(Level::info, "more");
  });
  burst.join();
  CHECK(log.dropped() == 100);
  const TimePoint began = Clock::now();
  log.message(Level::info, "of another");
  CHECK(Clock::now() - began >= Milliseconds{20});
  sink->let_go();
}

TEST_CASE("at the end of the process a thread has its patience once") {
  const auto sink = std::make_shared<StuckSink>();
  Log log({}, sink, 16);
  log.reloaded(2);
  sink->wait_until_stuck();
  log.lose_none(Milliseconds{20});
  for (int i = 0; i < 116; ++i) log.message(Level::info, "more");
  const TimePoint began = Clock::now();
  log.lose_none(Milliseconds{5000});
  log.message(Level::info, "after the drain");
  CHECK(Clock::now() - began < Milliseconds{5000});
  CHECK(log.dropped() == 101);
  sink->let_go();
}

TEST_CASE("an output that takes nothing holds up no end of the process") {
  const auto sink = std::make_shared<StuckSink>();
  Log log({}, sink, 16);
  log.reloaded(2);
  sink->wait_until_stuck();
  log.lose_none(Milliseconds{20});
  for (int i = 0; i < 116; ++i) log.message(Level::info, "more");
  CHECK(log.dropped() == 100);
  sink->let_go();
}

}  // namespace
}  // namespace spillway::observe
