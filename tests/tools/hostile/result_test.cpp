#include "bench/hostile/result.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tools/hostile/made_up.hpp"

using namespace spillway;
using namespace spillway::hostile;
using namespace spillway::hostile::test;
using nlohmann::json;

namespace {

Result some_result() {
  Result result{.cell = plan({.behaviours = {"abort"}, .contenders = {"haproxy"}}).front()};
  for (int n = 0; n < 3; ++n)
    happen(result.probes, {.kind = 0, .phase = kCounted}, ok(), Milliseconds(20));
  happen(result.probes, {.kind = 0, .phase = kCounted}, {.cause = "timeout"}, Milliseconds(1000));
  result.usage = {.connections = 50, .opened = 900, .bytes = 20000, .seconds = 2};
  result.backend = {.finished = 200, .wasted = 50, .most = 70};
  return result;
}

}  // namespace

TEST_CASE("a result line says what P0 got and what the attack used") {
  const json line = json::parse(result_line(some_result()));
  CHECK(line["suite"] == "hostile");
  CHECK(line["behaviour"] == "abort");
  CHECK(line["contender"] == "haproxy");
  CHECK(line["addresses"] == 100);
  CHECK(line["sent"] == 4);
  CHECK(line["answered"] == 3);
  CHECK(line["p99_ms"] == 20);
  CHECK(line["lost"] == json{{"timeout", 1}});
  CHECK(line["attack_connections"] == 50);
  CHECK(line["attack_bytes_per_s"] == 10000);
  CHECK(line["backend_most"] == 70);
  CHECK(line["wasted_ratio"] == 0.25);
  CHECK_FALSE(line.contains("failure"));
}

TEST_CASE("a cell that failed has no figures, and nothing answered has no latency") {
  Result result = some_result();
  result.failure = "it ended";
  const json line = json::parse(result_line(result));
  CHECK(line["failure"] == "it ended");
  CHECK_FALSE(line.contains("answered"));
  CHECK(result_text(result).find("FAILED: it ended") != std::string::npos);
  const json none = json::parse(result_line({.cell = result.cell}));
  CHECK(none["p99_ms"].is_null());
}

TEST_CASE("a cell with an attack that was none or beyond the bounds says nothing") {
  Result result = some_result();
  CHECK(invalid(result) == "");
  result.usage.opened = 0;
  CHECK(invalid(result) != "");
  result = some_result();
  result.usage.bytes = 4'000'000;
  CHECK(invalid(result).find("2000000 B/s") != std::string::npos);
}

TEST_CASE("a cell whose load or backend was late is to be repeated") {
  Result result = some_result();
  CHECK_FALSE(late(result));
  happen(result.probes, {.kind = 0, .phase = kCounted}, ok(), Milliseconds(300), Milliseconds(200));
  CHECK(late(result));
  result = some_result();
  result.backend.late = {Milliseconds(1), Milliseconds(30)};
  CHECK(late(result));
}
