#include "config/describe/effective.hpp"

#include "support/places.hpp"
#include "unit/config/support.hpp"

namespace spillway::config {
namespace {

// What the file names is looked for beside the examples.
std::string dumped(std::string_view json) {
  const auto result = load_text(json, "test.json", support::in_source("config/examples"));
  REQUIRE_MESSAGE(result.config.has_value(), listing(result.problems));
  return effective(*result.config).dump(2);
}

}  // namespace

TEST_CASE("the effective dump of the effective dump is the same text") {
  for (const char* path : {"config/spillway.json", "config/examples/shop.json",
                           "config/examples/api-and-reports.json", "config/examples/minimal.json",
                           "config/examples/ladder.json", "config/examples/cache.json"}) {
    CAPTURE(path);
    const std::string once = dumped(read_source(path));
    CHECK(dumped(once) == once);
  }
  const std::string odd = dumped(R"({
    "upstreams": [{ "name": "a", "servers": ["h:1"],
                    "overload": { "enter": { "error_rate": null } } }],
    "classes": [{ "name": "x", "max_inflight": 3, "ingress_weight": 0.5 }, { "name": "y" }],
    "overload": { "enter": { "queue_ratio": null } },
    "routes": [{ "name": "r", "match": {}, "priority": 7,
                 "rules": { "x": { "probability": 0.25, "budget": { "rate": 5 } } } }],
    "trusted_headers": { "priority": "" } })");
  CHECK(dumped(odd) == odd);
  const std::string staged = dumped(with(R"("overload": { "enter_by": "score", "stages": [
      { "name": "ELEVATED", "enter": { "queue_ratio": 0.3 }, "exit": { "queue_ratio": 0.2 } },
      { "name": "CRITICAL", "enter": { "queue_ratio": 0.9 }, "exit": { "queue_ratio": 0.6 },
        "rules": { "P1": { "strategy": "degrade", "miss": "deny" } } }] })"));
  CHECK(dumped(staged) == staged);
  const std::string answers = dumped(with(R"("routes": [{ "name": "r", "match": {},
      "rules": { "P1": { "strategy": "degrade", "miss": "fallback", "annotate": true,
                         "mode": "skip_downstream" } },
      "cache": { "max_bytes": 100000, "vary": ["Accept"], "serve": "fresh", "personal": [] },
      "fallback": { "headers": { "X-B": "1", "X-A": "2" }, "json": { "body": "{}" } } }])"));
  CHECK(dumped(answers) == answers);
}

TEST_CASE("the effective dump shows caches and fallbacks where there are any") {
  const auto dump = effective(load_good(with(R"("routes": [{ "name": "r", "match": {},
      "rules": { "P1": { "annotate": true, "mode": "skip_downstream" } },
      "cache": { "max_bytes": 100000 },
      "fallback": { "headers": { "X-A": "2" }, "html": { "body": "<p>" } } }])")));
  const auto& route = dump["routes"][0];
  CHECK(route["rules"]["P1"]["annotate"] == true);
  CHECK(
      route["cache"].dump() ==
      R"({"ttl_ms":1000,"error_ttl_ms":0,"heuristic_ratio":0.0,"stale_ms":60000,"max_bytes":100000,"max_entry_bytes":12500,"vary":[],)"
      R"("methods":["GET","HEAD"],"serve":"overload","stale_if_error":true,)"
      R"("personal":["Cookie","X-Api-Key"],"across_tenants":false,"targeted":[]})");
  CHECK(route["fallback"].dump() ==
        R"({"status":200,"headers":{"X-A":"2"},"html":{"body":"<p>"}})");
  CHECK_FALSE(dump["default_route"].contains("cache"));
  CHECK_FALSE(dump["default_route"].contains("fallback"));
}

TEST_CASE("the effective dump shows what the file leaves to the defaults") {
  const auto dump = effective(load_good(with("")));
  CHECK(dump["dispatch"]["expire_policy"] == "drop");
  CHECK(dump["dispatch"]["aging_half_life_ms"] == 200);
  CHECK(dump["overload"]["mode"] == "enforce");
  CHECK(dump["overload"]["enter"]["latency_p95_ms"].is_null());
  CHECK(dump["default_route"]["class"] == "P1");
  CHECK(dump["default_route"]["upstream"] == "app");
}

TEST_CASE("a secret never leaves: not in the dump and not in a message") {
  const std::string json = with(R"("admin":{"token":"hunter2-hunter2"})");
  const std::string dump = dumped(json);
  CHECK(dump.find("hunter2") == std::string::npos);
  CHECK(dump.find("<redacted>") != std::string::npos);
  check_problem(dump, "$.admin.token", "not acceptable");
  const auto bad = load_text(with(R"("admin":{"token":"hunter2 hunter2"})"), "f");
  CHECK(listing(bad.problems).find("hunter2") == std::string::npos);
}

}  // namespace spillway::config
