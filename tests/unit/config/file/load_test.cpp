#include "config/file/load.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "config/describe/effective.hpp"
#include "config/file/document.hpp"
#include "support/places.hpp"
#include "unit/config/support.hpp"

namespace spillway::config {
namespace {

// The contract's default file with every key written out.
constexpr std::string_view kContract = R"({
  "listen":  { "address": "127.0.0.1", "port": 8080 },
  "admin":   { "address": "127.0.0.1", "port": 9090 },
  "workers": 1,
  "limits":  { "header_bytes": 65536, "body_bytes": 104857600, "connections": 10000,
               "header_timeout_ms": 10000, "idle_timeout_ms": 60000, "drain_timeout_ms": 30000 },
  "upstreams": [
    { "name": "app", "servers": ["127.0.0.1:3000"],           // (example)
      "connect_timeout_ms": 1000, "response_timeout_ms": 30000, "idle_connections": 256 }
      // may carry its own "dispatch" and "overload", overriding the global ones
  ],
  "classes": [                                    // highest priority first
    { "name": "P0", "weight": 8, "max_queue": 512, "sla_ms": 1000, "max_wait_ms": 500 },
    { "name": "P1", "weight": 3, "max_queue": 256, "sla_ms": 1000, "max_wait_ms": 200 },
    { "name": "P2", "weight": 1, "max_queue": 128, "sla_ms": 1000, "max_wait_ms": 100 }
  ],
  "routes": [
    { "name": "checkout", "match": { "methods": ["POST"], "path": "/checkout/**" }, "class": "P0" },
    { "name": "search",   "match": { "path": "/search/**" },                        "class": "P1" },
    { "name": "export",   "match": { "path": "/export/**" },                        "class": "P2" }
  ],
  "default_route": { "class": "P1", "upstream": "app" },
  "tenants": { "key": ["api_key", "trusted_header", "client_address"] },
  "dispatch": { "concurrency": "auto", "discipline": "wfq",
                "dynamic_weights": true, "target_wait_ms": 20,
                "late": "drop", "expire_policy": "drop", "aging_half_life_ms": 200,
                "evict": ["P2", "P1"] },
  "overload": {
    "mode": "enforce", "tick_ms": 100, "window_ms": 2000, "cooldown_ms": 2000,
    "enter": { "inflight_ratio": 0.95, "queue_ratio": 0.8, "queue_wait_p95_ms": 200,
               "event_loop_lag_ms": 200, "error_rate": 0.2 },
    "exit":  { "inflight_ratio": 0.9, "queue_ratio": 0.5, "queue_wait_p95_ms": 120,
               "event_loop_lag_ms": 120, "error_rate": 0.1 },
    "rules": {
      "P0": { "strategy": "allow" },
      "P1": { "strategy": "deny", "probability": 0.5, "retry_after_ms": 1000 },
      "P2": { "strategy": "deny", "probability": 1.0, "retry_after_ms": 5000 }
    }
  }
})";

// Whatever is missing from its end, and whatever byte of each `step` is another.
void check_broken(const std::string& text, std::size_t step) {
  for (std::size_t length = 0; length < text.size(); ++length) {
    const auto result = load_text(std::string_view(text).substr(0, length), "f");
    CHECK(result.config.has_value() == result.problems.empty());
  }
  for (std::size_t at = 0; at < text.size(); at += step) {
    for (const char byte : {'\0', '"', '{', ']', '9', 'x'}) {
      std::string broken = text;
      broken[at] = byte;
      const auto result = load_text(broken, "f");
      REQUIRE(result.config.has_value() == result.problems.empty());
    }
  }
}

}  // namespace

TEST_CASE("the contract's default file loads and says nothing but the defaults") {
  auto written = effective(load_good(kContract));
  auto implied = effective(load_good(with("")));
  CHECK(written["routes"].size() == 3);
  written["routes"] = implied["routes"];
  CHECK(written.dump(2) == implied.dump(2));
}

TEST_CASE("only upstreams is required and every default is filled in") {
  const Config config = load_good(with(""));
  CHECK(config.listen.port == 8080);
  CHECK(config.limits.header_timeout == Milliseconds{10000});
  REQUIRE(config.classes.size() == 3);
  CHECK(config.classes[0].name == "P0");
  CHECK(config.classes[2].max_queue == 128);
  REQUIRE(config.overload.rules.size() == 3);
  CHECK(config.overload.rules[0].strategy == Strategy::allow);
  CHECK(config.overload.rules[1].probability == 0.5);
  CHECK(config.overload.rules[2].retry_after == Milliseconds{5000});
  CHECK(config.dispatch.evict == std::vector{ClassId{2}, ClassId{1}});
  REQUIRE(config.routes.size() == 1);
  CHECK(config.default_route().name == "default");
  CHECK(config.default_route().traffic_class == ClassId{1});
  CHECK(config.upstreams[0].overload.rules.size() == 3);
  CHECK(config.upstreams[0].dispatch.evict == config.dispatch.evict);
  CHECK_FALSE(config.overload.enter.latency_p95.has_value());
}

TEST_CASE("defaults follow the number of classes") {
  const Config four = load_good(
      with(R"("classes":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d","weight":2}])"));
  CHECK(four.default_route().traffic_class == ClassId{2});
  CHECK(four.dispatch.evict == std::vector{ClassId{3}, ClassId{2}, ClassId{1}});
  REQUIRE(four.upstreams[0].overload.rules.size() == 4);
  CHECK(four.overload.rules[0].strategy == Strategy::allow);
  CHECK(four.overload.rules[2].probability == 0.5);
  CHECK(four.overload.rules[3].probability == 1.0);
  CHECK(four.classes[3].weight == 2);

  const Config one = load_good(with(R"("classes":[{"name":"all"}])"));
  CHECK(one.default_route().traffic_class == ClassId{0});
  CHECK(one.dispatch.evict.empty());
  REQUIRE(one.overload.rules.size() == 1);
  CHECK(one.overload.rules[0].strategy == Strategy::deny);  // it is the lowest, too
  CHECK(one.overload.rules[0].probability == 1.0);
  CHECK(one.overload.rules[0].retry_after == Milliseconds{1000});
}

TEST_CASE("an upstream overrides the global sections field by field") {
  const Config config = load_good(R"({
    "upstreams": [
      { "name": "a", "servers": ["h:1"], "dispatch": { "concurrency": 4 },
        "overload": { "enter": { "error_rate": 0.5 }, "rules": { "P1": { "probability": 0.9 } } } },
      { "name": "b", "servers": ["h:2"] } ],
    "dispatch": { "target_wait_ms": 30, "concurrency": 8, "evict": ["P2"] },
    "overload": { "exit": { "error_rate": 0.05 }, "rules": { "P1": { "retry_after_ms": 7 } } } })");
  const Upstream& a = config.upstreams[0];
  CHECK(a.dispatch.concurrency == 4);
  CHECK(a.dispatch.target_wait == Milliseconds{30});
  CHECK(a.dispatch.evict == std::vector{ClassId{2}});
  CHECK(a.overload.enter.error_rate == 0.5);
  CHECK(a.overload.exit.error_rate == 0.05);
  CHECK(a.overload.rules[1].probability == 0.9);
  CHECK(a.overload.rules[1].retry_after == Milliseconds{7});
  const Upstream& b = config.upstreams[1];
  CHECK(b.dispatch.concurrency == 8);
  CHECK(b.overload.enter.error_rate == 0.2);
  CHECK(b.overload.rules[1].probability == 0.5);
  CHECK(b.overload.rules[1].retry_after == Milliseconds{7});
}

TEST_CASE("a route fills in the middle class and the first upstream") {
  const Config config = load_good(R"({
    "upstreams": [{ "name": "a", "servers": ["h:1"] }, { "name": "b", "servers": ["[::1]:2"] }],
    "default_route": { "upstream": "b", "class": "P2", "deadline_ms": 50 },
    "routes": [
      { "name": "x", "match": { "path": "/x" }, "rules": { "P2": { "strategy": "drop" } } },
      { "name": "y", "match": { "host": "h" }, "upstream": "b", "priority": 100 } ] })");
  REQUIRE(config.routes.size() == 3);
  CHECK(config.routes[0].traffic_class == ClassId{1});
  CHECK(config.routes[0].upstream == UpstreamId{0});
  REQUIRE(config.routes[0].rules.size() == 1);
  CHECK(config.routes[0].rules[0].traffic_class == ClassId{2});
  CHECK(config.routes[0].rules[0].strategy == Strategy::drop);
  CHECK_FALSE(config.routes[0].rules[0].probability.has_value());
  CHECK(config.routes[1].priority == 100);
  CHECK(config.routes[1].match.path == "/**");
  CHECK(config.default_route().upstream == UpstreamId{1});
  CHECK(config.default_route().deadline == Milliseconds{50});
}

TEST_CASE("a threshold set to null takes no part on either side") {
  const Config config =
      load_good(with(R"("overload":{"enter":{"error_rate":null,"latency_p95_ms":500},
                          "exit":{"latency_p95_ms":350}})"));
  CHECK_FALSE(config.overload.enter.error_rate.has_value());
  CHECK_FALSE(config.overload.exit.error_rate.has_value());
  CHECK(config.upstreams[0].overload.enter.latency_p95 == Milliseconds{500});
  CHECK_FALSE(config.upstreams[0].overload.exit.error_rate.has_value());
}

TEST_CASE("a file that cannot be read says why") {
  CHECK(load_file("/nonexistent/spillway.json").problems[0].message.find("No such file") !=
        std::string::npos);
  CHECK(load_file(support::in_source()).problems[0].message.find("directory") != std::string::npos);
}

TEST_CASE("a pipe is read while something comes and not waited for otherwise") {
  const std::filesystem::path pipe =
      std::filesystem::temp_directory_path() / ("spillway-pipe-" + std::to_string(getpid()));
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(load_file(pipe).problems.at(0).message.find("nothing came for 2000 ms") !=
        std::string::npos);  // no writer
  const int silent = open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(silent >= 0);
  CHECK(load_file(pipe).problems.at(0).message.find("nothing came") != std::string::npos);
  close(silent);
  // One that sends something again and again, and never ends.
  {
    std::jthread trickle([&](const std::stop_token& stopped) {
      const int out = open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
      while (!stopped.stop_requested()) {
        if (write(out, " ", 1) < 0) std::this_thread::yield();
      }
      close(out);
    });
    using std::chrono::milliseconds;
    const FileText text = read_file(pipe, 1 << 24, {milliseconds{2000}, milliseconds{50}});
    CHECK_FALSE(text.text);
    CHECK(text.problems.at(0).message.find("did not end within 50 ms") != std::string::npos);
  }
  std::thread writer([&] {
    std::ofstream out(pipe);
    out << R"({"upstreams":[{"name":"a",)" << std::flush << R"("servers":["127.0.0.1:1"]}]})";
  });
  CHECK(load_file(pipe).config.has_value());
  writer.join();
  std::filesystem::remove(pipe);
}

TEST_CASE("every prefix and every broken byte of the example file is handled") {
  check_broken(read_source("config/spillway.json"), 3);
}

TEST_CASE("every prefix and every broken byte of a route with prepared answers is handled") {
  check_broken(with(R"("routes":[{"name":"a","match":{"methods":["GET"]},
      "cache":{"max_bytes":99999,"vary":["A"],"methods":["GET"],"serve":"fresh"},
      "fallback":{"status":503,"headers":{"B":"c"},"json":{"body":"[]"},"html":{"file":"."}},
      "rules":{"P1":{"strategy":"degrade","mode":"skip_downstream","annotate":true}}}])"),
               1);
}

}  // namespace spillway::config
