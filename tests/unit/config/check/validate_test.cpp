#include "config/check/validate.hpp"

#include "unit/config/support.hpp"

namespace spillway::config {
namespace {

struct Bad {
  const char* members;  // beside the upstream "app"
  const char* path;
  const char* fragment;
};

void check_all(const std::vector<Bad>& table) {
  for (const Bad& bad : table) check_problem(with(bad.members), bad.path, bad.fragment);
}

}  // namespace

TEST_CASE("unknown and duplicate keys name the nearest known one") {
  check_all({
      {R"("lisen":{})", "$.lisen", "unknown key: did you mean \"listen\"?"},
      {R"("listen":{"prot":1})", "$.listen.prot", "did you mean \"port\"?"},
      {R"("listen":{"zzzzzz":1})", "$.listen.zzzzzz", "expected one of \"address\", \"port\""},
      {R"("overload":{"rules":{"P1":{"probabilty":1}}})", "$.overload.rules.P1.probabilty",
       "did you mean \"probability\"?"},
      {R"("overload":{"enter":{"queue_wait_ms":1}})", "$.overload.enter.queue_wait_ms",
       "did you mean \"queue_wait_p95_ms\"?"},
      {R"("workers":1,"workers":2)", "$.workers", "duplicate key"},
      {R"("routes":[{"name":"a","match":{"path":"/a","path":"/b"}}])", "$.routes[0].match.path",
       "duplicate key"},
  });
  check_problem(R"({"upstreams":[{"name":"a","servers":["h:1"],"dispatch":{"concurency":3}}]})",
                "$.upstreams[0].dispatch.concurency", "did you mean \"concurrency\"?");
}

TEST_CASE("values of the wrong type or range say what was found and what is allowed") {
  check_all({
      {R"("listen":3)", "$.listen", "found 3, allowed: an object"},
      {R"("listen":null)", "$.listen", "found null, allowed: an object"},
      {R"("admin":"s3cret-s3cret")", "$.admin", "found a text, allowed: an object"},
      {R"("listen":{"port":"80"})", "$.listen.port",
       "found \"80\", allowed: an integer from 0 to 65535"},
      {R"("listen":{"port":65536})", "$.listen.port", "found 65536"},
      {R"("listen":{"port":80.5})", "$.listen.port", "found 80.5"},
      {R"("listen":{"port":18446744073709551615})", "$.listen.port", "allowed: an integer"},
      {R"("listen":{"port":1e300})", "$.listen.port", "found 1e+300"},
      {R"("listen":{"port":-1})", "$.listen.port", "found -1"},
      {R"("listen":{"address":"localhost"})", "$.listen.address", "a numeric IPv4 or IPv6"},
      {R"("workers":-9223372036854775808)", "$.workers", "0 to 1024"},
      {R"("limits":{"idle_timeout_ms":-5})", "$.limits.idle_timeout_ms", "found -5"},
      {R"("limits":{"header_timeout_ms":999999999})", "$.limits.header_timeout_ms", "3600000"},
      {R"("trusted_peers":["10.0.0.0/8","10.0.0.0/64"])", "$.trusted_peers[1]", "CIDR"},
      {R"("trusted_peers":"10.0.0.0/8")", "$.trusted_peers", "allowed: an array"},
      {R"("classes":[])", "$.classes", "found 0 elements, allowed: 1 to 32"},
      {R"("classes":[{"name":"a","weight":0}])", "$.classes[0].weight", "found 0, allowed"},
      {R"("classes":[{"name":"1"},{}])", "$.classes[1].name", "is the class of that name"},
      {R"("classes":[{"name":"other"}])", "$.classes[0].name", "reserved"},
      {R"("tenants":{"key":["api_key","cookie"]})", "$.tenants.key[1]",
       "found \"cookie\", allowed: \"api_key\", \"trusted_header\" or \"client_address\""},
      {R"("tenants":{"key":["api_key","api_key"]})", "$.tenants.key[1]", "twice"},
      {R"("dispatch":{"dynamic_weights":1})", "$.dispatch.dynamic_weights", "true or false"},
      {R"("dispatch":{"concurrency":0})", "$.dispatch.concurrency", "found 0"},
      {R"("dispatch":{"concurrency":null})", "$.dispatch.concurrency", "found null"},
      {R"("overload":{"enter":{"error_rate":1.5}})", "$.overload.enter.error_rate",
       "a number from 0.0 to 1.0, or null"},
      {R"("overload":{"rules":[]})", "$.overload.rules", "class names as keys"},
      {R"("overload":{"rules":{"P1":{"strategy":"deney"}}})", "$.overload.rules.P1.strategy",
       "found \"deney\", allowed: \"allow\", \"degrade\", \"deny\" or \"drop\""},
      {R"("log":{"level":"loud"})", "$.log.level", "\"debug\", \"info\", \"warn\" or \"error\""},
      {R"("$schema":1)", "$.$schema", "a text"},
  });
}

TEST_CASE("a class with any name at all is reported and nothing else") {
  for (const std::string name : {"~x", "a~", "a/b", "a.b~2", "\\"}) {
    CAPTURE(name);
    const auto result =
        load_text(with(R"("classes":[{"name":")" + name + R"("},{"name":"y"}])"), "test.json");
    CHECK_FALSE(result.config.has_value());
    CHECK_FALSE(result.problems.empty());
  }
}

TEST_CASE("unknown names are refused with the nearest known name") {
  check_all({
      {R"("default_route":{"class":"P3"})", "$.default_route.class", "did you mean \"P0\"?"},
      {R"("default_route":{"upstream":"ap"})", "$.default_route.upstream", "did you mean \"app\"?"},
      {R"("routes":[{"name":"a","match":{},"class":"gold"}])", "$.routes[0].class",
       "found \"gold\", there is no such class: expected one of \"P0\", \"P1\", \"P2\""},
      {R"("routes":[{"name":"a","match":{},"rules":{"P9":{}}}])", "$.routes[0].rules.P9",
       "no such class"},
      {R"("overload":{"rules":{"p2":{}}})", "$.overload.rules.p2", "did you mean \"P2\"?"},
      {R"("dispatch":{"evict":["P2","PX"]})", "$.dispatch.evict[1]", "no such class"},
      {R"("dispatch":{"evict":["P2","P0"]})", "$.dispatch.evict[1]", "highest class"},
      {R"("dispatch":{"evict":["P2","P2"]})", "$.dispatch.evict[1]", "twice"},
      {R"("classes":[{"name":"a"},{"name":"b"},{"name":"a"}])", "$.classes[2].name",
       "$.classes[0] is the class of that name"},
      {R"("routes":[{"name":"a","match":{"path":"/a"}},{"name":"a","match":{"path":"/b"}}])",
       "$.routes[1].name", "the route of that name"},
      {R"("routes":[{"name":"default","match":{}}])", "$.routes[0].name", "reserved"},
  });
  check_problem(R"({})", "$.upstreams", "missing");
  check_problem(R"({"upstreams":[]})", "$.upstreams", "found 0 elements, allowed: 1 to 256");
  check_problem(R"([])", "$", "found an array, allowed: an object");
  check_problem(R"({"upstreams":[{"name":"a","servers":["nohost"]}]})", "$.upstreams[0].servers[0]",
                "host:port");
  check_problem(R"({"upstreams":[{"name":"a","servers":["h:1","h:1"]}]})",
                "$.upstreams[0].servers[1]", "twice");
  check_problem(R"({"upstreams":[{"name":"a","servers":["h:1"],"dispatch":{"evict":["P0"]}}]})",
                "$.upstreams[0].dispatch.evict[0]", "highest class");
}

TEST_CASE("exit thresholds must be given and lie below enter") {
  check_all({
      {R"("overload":{"enter":{"latency_p95_ms":500}})", "$.overload.exit.latency_p95_ms",
       "missing: $.overload.enter.latency_p95_ms is 500"},
      {R"("overload":{"exit":{"latency_p95_ms":500}})", "$.overload.exit.latency_p95_ms",
       "without $.overload.enter.latency_p95_ms"},
      {R"("overload":{"exit":{"error_rate":null}})", "$.overload.exit.error_rate", "missing"},
      {R"("overload":{"exit":{"queue_ratio":0.8}})", "$.overload.exit.queue_ratio",
       "found 0.8, allowed: below $.overload.enter.queue_ratio (0.8)"},
      {R"("overload":{"enter":{"queue_wait_p95_ms":100}})", "$.overload.exit.queue_wait_p95_ms",
       "found 120, allowed: below"},
      {R"("overload":{"tick_ms":2000})", "$.overload.window_ms", "two ticks (4000)"},
  });
  check_problem(R"({"upstreams":[{"name":"a","servers":["h:1"],
                    "overload":{"enter":{"latency_p95_ms":5}}}]})",
                "$.upstreams[0].overload.exit.latency_p95_ms", "missing");
}

TEST_CASE("an error in one threshold is not held against its other half") {
  check_problem(with(R"("overload":{"enter":{"error_rate":"0.99"},"exit":{"error_rate":0.9}})"),
                "$.overload.enter.error_rate", "found \"0.99\"");
}

TEST_CASE("routes must be reachable and say one thing") {
  check_all({
      {R"("routes":[{"name":"a"}])", "$.routes[0].match", "missing"},
      {R"("routes":[{"name":"a","match":{"path":"a"}}])", "$.routes[0].match.path",
       "starts with '/'"},
      {R"("routes":[{"name":"a","match":{"path":"/a/**/b"}}])", "$.routes[0].match.path",
       "'**' only as the last"},
      {R"("routes":[{"name":"a","match":{"methods":["get"]}}])", "$.routes[0].match.methods[0]",
       "upper case"},
      {R"("routes":[{"name":"a","match":{"path":"/x","methods":["GET","POST"]}},
                    {"name":"b","match":{"path":"/x","methods":["POST","GET"]}}])",
       "$.routes[1].match", "the same match as $.routes[0]"},
      {R"("routes":[{"name":"a","match":{},"class":"P1","priority":3}])", "$.routes[0].priority",
       "exclude one another"},
      {R"("routes":[{"name":"a","match":{},"priority":101}])", "$.routes[0].priority",
       "found 101, allowed: up to $.priority_max (100)"},
      {R"("default_route":{"match":{}})", "$.default_route.match", "unknown key"},
  });
}

TEST_CASE("slots that are reserved must exist") {
  check_all({
      {R"("dispatch":{"concurrency":2},"classes":[{"name":"a","reserved":2},{"name":"b","reserved":1}])",
       "$.dispatch.concurrency", "reserve 3: more than there are"},
      {R"("dispatch":{"concurrency":2},"classes":[{"name":"a","reserved":2},{"name":"b"}])",
       "$.dispatch.concurrency", "would never run"},
      {R"("classes":[{"name":"a","reserved":3,"max_inflight":2}])", "$.classes[0].max_inflight",
       "at least the reserved 3"},
  });
  load_good(with(R"("dispatch":{"concurrency":2},"classes":[{"name":"a","reserved":1},
                    {"name":"b","reserved":1}])"));
}

TEST_CASE("a circuit breaker is there only when asked for and must be able to open") {
  CHECK_FALSE(load_good(with("")).upstreams[0].circuit_breaker);
  const auto upstream = [](const std::string& breaker) {
    return R"({"upstreams":[{"name":"app","servers":["a:1"],"circuit_breaker":)" + breaker + "}]}";
  };
  const Config plain = load_good(upstream("{}"));
  REQUIRE(plain.upstreams[0].circuit_breaker);
  CHECK(plain.upstreams[0].circuit_breaker->consecutive_failures == 5);
  CHECK(plain.upstreams[0].circuit_breaker->open == Milliseconds{1000});
  const Config own = load_good(
      upstream(R"({"consecutive_failures":0,"failure_rate":0.9,"min_samples":7,"window_ms":500,)"
               R"("open_ms":40000,"max_open_ms":40000})"));
  CHECK(own.upstreams[0].circuit_breaker->failure_rate == 0.9);
  CHECK(own.upstreams[0].circuit_breaker->min_samples == 7);
  CHECK(own.upstreams[0].circuit_breaker->window == Milliseconds{500});
  CHECK(own.upstreams[0].circuit_breaker->max_open == Milliseconds{40000});

  const std::string path = "$.upstreams[0].circuit_breaker";
  check_problem(upstream("true"), path, "found true");
  check_problem(upstream(R"({"failures":3})"), path + ".failures", "unknown");
  check_problem(upstream(R"({"consecutive_failures":-1})"), path + ".consecutive_failures",
                "found -1");
  check_problem(upstream(R"({"failure_rate":1.1})"), path + ".failure_rate", "0.0 to 1.0");
  check_problem(upstream(R"({"min_samples":0})"), path + ".min_samples", "from 1");
  check_problem(upstream(R"({"window_ms":99})"), path + ".window_ms", "from 100");
  check_problem(upstream(R"({"open_ms":0})"), path + ".open_ms", "from 1");
  check_problem(upstream(R"({"open_ms":30001})"), path + ".open_ms",
                "found 30001, allowed: up to " + path + ".max_open_ms (30000)");
  check_problem(upstream(R"({"open_ms":40000,"max_open_ms":"8"})"), path + ".max_open_ms",
                "found \"8\"");
  check_problem(upstream(R"({"consecutive_failures":0,"failure_rate":0})"),
                path + ".consecutive_failures", "would never open");
}

TEST_CASE("an admin listener that others can reach needs a token") {
  check_all({
      {R"("admin":{"address":"0.0.0.0"})", "$.admin.address", "needs $.admin.token"},
      {R"("admin":{"address":"::"})", "$.admin.address", "needs $.admin.token"},
      {R"("admin":{"port":8080})", "$.admin.port", "the same address and port"},
  });
  load_good(with(R"("admin":{"address":"0.0.0.0","token":"long-enough"})"));
  load_good(with(R"("admin":{"address":"::1"})"));
  load_good(with(R"("admin":{"port":0},"listen":{"port":0})"));
}

TEST_CASE("stages are a ladder with thresholds of their own") {
  const auto stages = [](const std::string& list) {
    return with(R"("overload":{"stages":[)" + list + "]}");
  };
  const std::string overloaded =
      R"({"name":"OVERLOADED","enter":{"queue_ratio":0.8},"exit":{"queue_ratio":0.5}})";
  check_problem(stages(overloaded + "," + overloaded), "$.overload.stages[1].name",
                "found \"OVERLOADED\" after \"OVERLOADED\"");
  check_problem(stages(overloaded + R"(,{"name":"ELEVATED","enter":{"error_rate":0.5},
                                        "exit":{"error_rate":0.1}})"),
                "$.overload.stages[1].name", "ELEVATED, OVERLOADED, CRITICAL in this order");
  check_problem(stages(overloaded + R"(,{"name":"CRITICAL","enter":{"queue_ratio":0.7},
                                        "exit":{"queue_ratio":0.6}})"),
                "$.overload.stages[1].enter.queue_ratio",
                "at least $.overload.stages[0].enter.queue_ratio (0.8)");
  check_problem(
      stages(R"({"name":"NORMAL","enter":{"queue_ratio":0.7},"exit":{"queue_ratio":0.6}})"),
      "$.overload.stages[0].name", "allowed: \"ELEVATED\", \"OVERLOADED\" or");
  check_problem(stages(R"({"name":"CRITICAL","enter":{}})"), "$.overload.stages[0].enter",
                "never entered");
  check_problem(stages(R"({"name":"CRITICAL","enter":{"queue_ratio":0.7}})"),
                "$.overload.stages[0].exit.queue_ratio", "missing");
  check_problem(stages(R"({"name":"CRITICAL","enter":{"queue_ratio":0.7},
                          "exit":{"queue_ratio":0.7}})"),
                "$.overload.stages[0].exit.queue_ratio", "allowed: below");
  check_problem(stages(R"({"name":"CRITICAL","enter":{"queue_ratio":0.7},
                          "exit":{"queue_ratio":0.5},"rules":{"P9":{}}})"),
                "$.overload.stages[0].rules.P9", "no such class");
  check_problem(with(R"("overload":{"enter":{"queue_ratio":0.9},"stages":[)" + overloaded + "]}"),
                "$.overload.enter.queue_ratio", "stages take the place of $.overload.enter");
  check_problem(R"({"upstreams":[{"name":"a","servers":["h:1"],
                                  "overload":{"exit":{"error_rate":0.05}}}],
                    "overload":{"stages":[)" +
                    overloaded + "]}}",
                "$.upstreams[0].overload.exit.error_rate", "stages take the place");
}

TEST_CASE("a stage may not come before any that is below it") {
  check_problem(with(R"("overload":{"stages":[
      {"name":"ELEVATED","enter":{"queue_ratio":0.8},"exit":{"queue_ratio":0.5}},
      {"name":"OVERLOADED","enter":{"error_rate":0.3},"exit":{"error_rate":0.1}},
      {"name":"CRITICAL","enter":{"queue_ratio":0.4},"exit":{"queue_ratio":0.2}}]})"),
                "$.overload.stages[2].enter.queue_ratio",
                "at least $.overload.stages[0].enter.queue_ratio (0.8)");
}

TEST_CASE("a wrong stage is reported where it is written and not at upstreams that inherit it") {
  check_problem(R"({"upstreams":[{"name":"a","servers":["h:1"],"overload":{"cooldown_ms":1}}],
                    "overload":{"stages":[{"name":"CRITICAL","enter":{"queue_ratio":0.7}}]}})",
                "$.overload.stages[0].exit.queue_ratio", "missing");
}

TEST_CASE("all the tenants that are tracked must fit into memory") {
  check_problem(with(R"("workers":1000,"tenants":{"tracked":4096})"), "$.tenants.tracked",
                "12288000 counters over all classes, upstreams and workers, allowed: 4000000");
  load_good(with(R"("workers":1000,"tenants":{"tracked":4096,"fairness":false})"));
}

TEST_CASE("stages take the cooldown of their section and their rules say only what differs") {
  const Config config = load_good(with(R"("overload":{"cooldown_ms":700,"stages":[
      {"name":"ELEVATED","enter":{"queue_ratio":0.3},"exit":{"queue_ratio":0.2}},
      {"name":"CRITICAL","enter":{"queue_ratio":0.9},"exit":{"queue_ratio":0.6},"cooldown_ms":50,
       "rules":{"P0":{"strategy":"degrade","mode":"cache_only"}}}]})"));
  for (const Overload* overload : {&config.overload, &config.upstreams[0].overload}) {
    REQUIRE(overload->stages.size() == 2);
    CHECK(overload->stages[0].cooldown == Milliseconds{700});
    CHECK(overload->stages[1].cooldown == Milliseconds{50});
    CHECK_FALSE(overload->stages[0].enter.error_rate);
    REQUIRE(overload->stages[1].rules.size() == 1);
    CHECK(overload->stages[1].rules[0].mode == DegradeMode::cache_only);
    CHECK_FALSE(overload->stages[1].rules[0].miss);
  }
}

TEST_CASE("rules budgets scores and keys have bounds") {
  check_all({
      {R"("overload":{"rules":{"P1":{"mode":"fresh"}}})", "$.overload.rules.P1.mode",
       "\"stale_ok\", \"cache_only\" or \"skip_downstream\""},
      {R"("overload":{"rules":{"P1":{"budget":{"burst":5}}}})", "$.overload.rules.P1.budget.rate",
       "required"},
      {R"("overload":{"rules":{"P1":{"budget":{"rate":-1}}}})", "$.overload.rules.P1.budget.rate",
       "found -1"},
      {R"("overload":{"rules":{"P1":{"budget":{"rate":5,"burst":0}}}})",
       "$.overload.rules.P1.budget.burst", "found 0"},
      {R"("overload":{"rules":{"P1":{"retry_after_ms":-1}}})", "$.overload.rules.P1.retry_after_ms",
       "found -1"},
      {R"("overload":{"cooldown_ms":99999999})", "$.overload.cooldown_ms", "3600000"},
      {R"("overload":{"enter_by":"votes"})", "$.overload.enter_by", "\"any\" or \"score\""},
      {R"("overload":{"score":{"enter":1.5,"exit":1.5}})", "$.overload.score.exit",
       "allowed: below $.overload.score.enter (1.5)"},
      {R"("overload":{"score":{"weights":{"error_rate":-1}}})",
       "$.overload.score.weights.error_rate", "found -1"},
      {R"("overload":{"enter_by":"score","score":{"weights":{"inflight_ratio":0,"queue_ratio":0,
          "queue_wait_p95":0,"latency_p95":0,"latency_p99":0,"latency_p95_ratio":0,"event_loop_lag":0,"error_rate":0}}})",
       "$.overload.score.weights", "all are 0"},
      {R"("dispatch":{"aging_half_life_ms":0})", "$.dispatch.aging_half_life_ms", "found 0"},
      {R"("dispatch":{"discipline":"lifo"})", "$.dispatch.discipline", "\"aging\" or \"edf\""},
      {R"("dispatch":{"dead_letters":0})", "$.dispatch.dead_letters", "found 0"},
      {R"("tenants":{"tracked":1})", "$.tenants.tracked", "8 to 4096"},
      {R"("trusted_headers":{"tenant":"X Tenant"})", "$.trusted_headers.tenant", "HTTP field"},
      {R"("classes":[{"name":"spillway-refresh"}])", "$.classes[0].name", "reserved"},
      {R"("classes":[{"name":"total"}])", "$.classes[0].name", "reserved"},
  });
  load_good(with(R"("overload":{"rules":{"P1":{"budget":{"rate":0}}}},
                    "trusted_headers":{"tenant":""})"));
}

TEST_CASE("a miss forwards unless the rule says otherwise or may only answer from the cache") {
  Rule rule;
  CHECK(miss_of(rule) == Miss::forward);
  rule.mode = DegradeMode::cache_only;
  CHECK(miss_of(rule) == Miss::deny);
  rule.miss = Miss::forward;
  CHECK(miss_of(rule) == Miss::forward);
}

TEST_CASE("a concurrency is a number, auto, or bounds in order") {
  const auto concurrency = [](const std::string& value) {
    const auto result = load_text(with(R"("dispatch":{"concurrency":)" + value + "}"), "f");
    REQUIRE_MESSAGE(result.config.has_value(), value, listing(result.problems));
    return result.config->upstreams[0].dispatch.concurrency;
  };
  CHECK(concurrency("16").most == 16);
  CHECK_FALSE(concurrency("16").search.has_value());
  CHECK(concurrency(R"("auto")").search->first() == 64);
  CHECK(concurrency(R"("auto")").most == 1000);
  CHECK(concurrency(R"({"min":4,"max":100,"initial":8})").search->min == 4);
  CHECK(concurrency(R"({"min":4,"max":100,"initial":8})").most == 100);
  CHECK(concurrency(R"({"max":32})").search->first() == 32);
  CHECK(concurrency(R"({"min":100})").search->first() == 100);
  CHECK(concurrency(R"({"law":"gradient2"})").search->law == LimitLaw::gradient2);
  const char* order = "allowed: min <= initial <= max";
  check_all({
      {R"("dispatch":{"concurrency":"automatic"})", "$.dispatch.concurrency", "\"auto\""},
      {R"("dispatch":{"concurrency":0})", "$.dispatch.concurrency", "allowed: an integer"},
      {R"("dispatch":{"concurrency":{"min":0}})", "$.dispatch.concurrency.min", "allowed"},
      {R"("dispatch":{"concurrency":{"low":1}})", "$.dispatch.concurrency.low", "unknown key"},
      {R"("dispatch":{"concurrency":{"min":65,"max":64}})", "$.dispatch.concurrency", order},
      {R"("dispatch":{"concurrency":{"min":65,"initial":64}})", "$.dispatch.concurrency", order},
      {R"("dispatch":{"concurrency":{"max":10,"initial":11}})", "$.dispatch.concurrency", order},
  });
}

TEST_CASE("all errors are reported at once") {
  const auto result = load_text(R"({
    "lisen": {}, "workers": -1, "workers": 2,
    "upstreams": [{ "name": "app", "servers": ["x"], "colour": 1 }],
    "routes": [{ "name": "a", "match": { "path": "x" }, "class": "P7" },
               { "name": "a", "match": { "path": "/ok" } }],
    "overload": { "exit": { "error_rate": 0.9 }, "rules": { "P1": { "probability": 2 } } } })",
                                "f");
  CHECK_FALSE(result.config.has_value());
  const std::string all = listing(result.problems);
  CAPTURE(all);
  CHECK(result.problems.size() == 10);
  for (const char* path :
       {"$.lisen:", "$.workers: dup", "$.workers: found", "$.upstreams[0].servers[0]:",
        "$.upstreams[0].colour:", "$.routes[0].match.path:", "$.routes[0].class:",
        "$.routes[1].name:", "$.overload.exit.error_rate:", "$.overload.rules.P1.probability:"}) {
    CHECK_MESSAGE(all.find(path) != std::string::npos, path);
  }
}

}  // namespace spillway::config
