#include "config/check/checks.hpp"

#include "unit/config/support.hpp"

namespace spillway::config {
namespace {

const std::string kCache = R"("cache":{"max_bytes":1048576})";
const std::string kFallback = R"("fallback":{"json":{"body":"{}"}})";

std::string route(const std::string& members) {
  return with(R"("routes":[{"name":"a","match":{}, )" + members + "}]");
}

std::string route_rule(const std::string& rule, const std::string& others = {}) {
  return route(R"("rules":{"P1":)" + rule + "}" + (others.empty() ? "" : "," + others));
}

void check_rule_problem(const std::string& rule, std::string_view key, std::string_view fragment,
                        const std::string& others = {}) {
  check_problem(route_rule(rule, others), "$.routes[0].rules.P1." + std::string(key), fragment);
}

}  // namespace

TEST_CASE("a cache needs a bound and stores answers to GET only") {
  const auto cache = [](const std::string& members) {
    return route("\"cache\":{" + members + "}");
  };
  check_problem(cache(""), "$.routes[0].cache.max_bytes", "missing: this key is required");
  check_problem(with(R"("default_route":{"cache":{"ttl_ms":5}})"),
                "$.default_route.cache.max_bytes", "missing");
  check_problem(cache(R"("max_bytes":65535)"), "$.routes[0].cache.max_bytes",
                "an integer from 65536 to 1099511627776");
  check_problem(cache(R"("max_bytes":65536,"max_entry_bytes":65537)"),
                "$.routes[0].cache.max_entry_bytes",
                "found 65537, allowed: up to $.routes[0].cache.max_bytes (65536)");
  check_problem(cache(R"("max_bytes":65536,"max_entry_bytes":1023)"),
                "$.routes[0].cache.max_entry_bytes", "from 1024");
  check_problem(cache(R"("max_bytes":65536,"methods":["GET","POST"])"),
                "$.routes[0].cache.methods[1]",
                "found \"POST\", allowed: \"GET\" or \"HEAD\" (no answer to another method");
  check_problem(cache(R"("max_bytes":65536,"methods":["HEAD"])"), "$.routes[0].cache.methods",
                "without \"GET\" nothing is ever stored");
  check_problem(cache(R"("max_bytes":65536,"methods":[])"), "$.routes[0].cache.methods", "1 to 2");
  check_problem(cache(R"("max_bytes":65536,"serve":"stale")"), "$.routes[0].cache.serve",
                "\"overload\" or \"fresh\"");
  check_problem(cache(R"("max_bytes":65536,"vary":["*"])"), "$.routes[0].cache.vary[0]",
                "HTTP field");
  check_problem(cache(R"("max_bytes":65536,"personal":["X Who"])"), "$.routes[0].cache.personal[0]",
                "HTTP field");
  check_problem(cache(R"("max_bytes":65536,"ttl_ms":-1)"), "$.routes[0].cache.ttl_ms", "found -1");
  check_problem(cache(R"("max_bytes":65536,"stale_ms":31536000001)"), "$.routes[0].cache.stale_ms",
                "31536000000");
  check_problem(cache(R"("max_bytes":65536,"heuristic_ratio":1.5)"),
                "$.routes[0].cache.heuristic_ratio", "found 1.5");
  check_problem(cache(R"("max_bytes":65536,"targeted":["*"])"), "$.routes[0].cache.targeted[0]",
                "HTTP field");
  check_problem(cache(R"("max_bytes":65536,"stale_if_error":1)"),
                "$.routes[0].cache.stale_if_error", "true or false");
  check_problem(cache(R"("max_bites":65536,"max_bytes":65536)"), "$.routes[0].cache.max_bites",
                "did you mean \"max_bytes\"?");
  check_problem(
      with(R"("routes":[{"name":"a","match":{"methods":["POST","PUT"]},)" + kCache + "}]"),
      "$.routes[0].cache", "$.routes[0].match.methods is without \"GET\"");
}

TEST_CASE("a cache says by default what is safe and an entry takes an eighth of it at most") {
  const Config config = load_good(route(R"("cache":{"max_bytes":65536})"));
  REQUIRE(config.routes[0].cache.has_value());
  const Cache& cache = *config.routes[0].cache;
  CHECK(cache.max_entry_bytes == 8192);
  CHECK(cache.serve == Serve::overload);
  CHECK(cache.personal == std::vector<std::string>{"Cookie", "X-Api-Key"});
  CHECK_FALSE(cache.across_tenants);
  CHECK(cache.error_ttl == Milliseconds{0});
  CHECK(cache.heuristic_ratio == 0);
  CHECK(cache.targeted.empty());
  CHECK_FALSE(config.default_route().cache.has_value());
  CHECK(load_good(route(R"("cache":{"max_bytes":16777216})")).routes[0].cache->max_entry_bytes ==
        1048576);
  CHECK(load_good(route(R"("cache":{"max_bytes":65536,"max_entry_bytes":65536})"))
            .routes[0]
            .cache->max_entry_bytes == 65536);
}

TEST_CASE("a fallback is a whole answer in JSON or HTML or both") {
  const auto fallback = [](const std::string& members) {
    return route("\"fallback\":{" + members + "}");
  };
  const std::string at = "$.routes[0].fallback";
  const std::string json = R"("json":{"body":"{}"})";
  check_problem(fallback(""), at, "neither \"json\" nor \"html\"");
  check_problem(with(R"("default_route":{"fallback":{"status":503}})"), "$.default_route.fallback",
                "neither");
  check_problem(fallback(R"("json":{})"), at + ".json", "neither \"body\" nor \"file\"");
  check_problem(fallback(R"("html":{"body":"x","file":"y"})"), at + ".html.file",
                "body and file exclude one another");
  check_problem(fallback(R"("html":{"body":3})"), at + ".html.body", "found 3");
  check_problem(fallback(R"("html":3)"), at + ".html", "found 3");
  check_problem(fallback(R"("html":{"body":""})"), at + ".html.body", "1 to 1048576 bytes");
  check_problem(fallback(R"("html":{"file":""})"), at + ".html.file", "the name of a file");
  check_problem(fallback(R"("json":{"body":"sorry"})"), at + ".json.body",
                "found \"sorry\", allowed: a text that is JSON");
  check_problem(fallback(json + R"(,"status":199)"), at + ".status", "200 to 599");
  for (const char* status : {"204", "205", "206", "304"}) {
    check_problem(fallback(json + R"(,"status":)" + status), at + ".status", "with a body");
  }
  const Config config = load_good(fallback(
      R"("status":503,"json":{"body":"[]"},"html":{"body":"<p>"},"headers":{"X-A":"b c"})"));
  CHECK(config.routes[0].fallback->status == 503);
  CHECK(config.routes[0].fallback->json->text == "[]");
  CHECK(config.routes[0].fallback->html->text == "<p>");
  REQUIRE(config.routes[0].fallback->headers.size() == 1);
  CHECK(config.routes[0].fallback->headers[0].name == "X-A");
  CHECK(config.routes[0].fallback->headers[0].value == "b c");
}

TEST_CASE("a fallback sets no field that frames the answer or is ours to set") {
  const auto headers = [](const std::string& fields) {
    return route(R"("fallback":{"json":{"body":"{}"},"headers":)" + fields + "}");
  };
  const std::string at = "$.routes[0].fallback.headers";
  for (const char* name :
       {"Connection", "content-length", "Transfer-Encoding", "Date", "Upgrade", "Trailer",
        "Keep-Alive", "TE", "Proxy-Connection", "Age", "Cache-Status", "Spillway-Degraded",
        "SPILLWAY-X", "Content-Encoding", "Content-Range", "X-Request-Id"}) {
    check_problem(headers("{\"" + std::string(name) + "\":\"1\"}"), member(at, name),
                  "that Spillway does not set or take out itself");
  }
  check_problem(headers(R"({"":"1"})"), at + "[\"\"]", "the name of an HTTP field");
  check_problem(headers(R"({"X A":"1"})"), at + "[\"X A\"]", "the name of an HTTP field");
  check_problem(headers(R"({"X-A":"1\r\nX-B: 2"})"), at + ".X-A", "printable ASCII");
  check_problem(headers(R"({"X-A":" 1"})"), at + ".X-A", "printable ASCII");
  check_problem(headers(R"({"X-A":1})"), at + ".X-A", "found 1");
  check_problem(headers(R"({"X-A":"1","x-a":"2"})"), at + ".x-a", "the same field as \"X-A\"");
  check_problem(route(R"("fallback":{"json":{"body":"{}"},"html":{"body":"<p>"},
                           "headers":{"content-type":"text/html"}})"),
                at + ".content-type", "one type for two texts");
  load_good(headers(R"({"Content-Type":"application/problem+json"})"));
  check_problem(headers("[]"), at, "names of fields as keys");
  load_good(headers(R"({"Set-Cookie":"busy=1","Cache-Control":"max-age=5","X-Empty":"",
                        "Retry-After":"3"})"));
}

TEST_CASE("a route's own rule does not ask for stored answers without a cache") {
  const char* none = "there is no $.routes[0].cache to answer from";
  check_rule_problem(R"({"strategy":"degrade","mode":"stale_ok"})", "mode", none);
  check_rule_problem(R"({"mode":"cache_only"})", "mode", none);
  check_rule_problem(R"({"strategy":"degrade"})", "strategy",
                     "found \"degrade\", which is by mode \"stale_ok\": there is no");
  check_problem(with(R"("default_route":{"rules":{"P0":{"mode":"stale_ok"}}})"),
                "$.default_route.rules.P0.mode", "there is no $.default_route.cache");
  load_good(route_rule(R"({"strategy":"degrade"})", kCache));
  load_good(route_rule(R"({"mode":"cache_only"})", kCache));
  load_good(route_rule(R"({"strategy":"degrade","mode":"skip_downstream"})"));
  load_good(route_rule(R"({"strategy":"deny","probability":0.5})"));
}

TEST_CASE("the mode that a route's rule inherits counts in every state it plays a part in") {
  const auto staged = [](const std::string& overload, const std::string& rule) {
    return with(R"("overload":{)" + overload + R"(},"routes":[{"name":"a","match":{},)" +
                R"("rules":{"P1":)" + rule + "}}]");
  };
  const std::string skip = R"("rules":{"P1":{"mode":"skip_downstream"}})";
  load_good(staged(skip, R"({"strategy":"degrade"})"));
  const auto stage = [](const std::string& state, double enter, const std::string& mode) {
    return R"({"name":")" + state + R"(","enter":{"queue_ratio":)" + std::to_string(enter) +
           R"(},"exit":{"queue_ratio":0.1},"rules":{"P1":{"mode":")" + mode + "\"}}}";
  };
  const std::string at = "$.routes[0].rules.P1.strategy";
  check_problem(staged(skip + R"(,"stages":[)" + stage("OVERLOADED", 0.5, "skip_downstream") + "," +
                           stage("CRITICAL", 0.9, "cache_only") + "]",
                       R"({"strategy":"degrade"})"),
                at, "by mode \"cache_only\"");
  // In ELEVATED a route's rule plays no part.
  load_good(staged(skip + R"(,"stages":[)" + stage("ELEVATED", 0.5, "cache_only") + "]",
                   R"({"strategy":"degrade"})"));
  check_problem(R"({"upstreams":[{"name":"a","servers":["h:1"]},{"name":"b","servers":["h:2"],
                     "overload":{"rules":{"P1":{"mode":"cache_only"}}}}],
                    "overload":{"rules":{"P1":{"mode":"skip_downstream"}}},
                    "routes":[{"name":"a","match":{"path":"/a"},"rules":{"P1":{"strategy":"degrade"}}},
                              {"name":"b","match":{"path":"/b"},"upstream":"b",
                               "rules":{"P1":{"strategy":"degrade"}}}]})",
                "$.routes[1].rules.P1.strategy", "cache_only");
}

TEST_CASE("rules of classes and stages may speak of what some routes do not have") {
  load_good(with(R"("overload":{"rules":{"P1":{"strategy":"degrade","mode":"cache_only",
                                               "miss":"fallback"}}})"));
  load_good(with(R"("overload":{"stages":[{"name":"CRITICAL","enter":{"queue_ratio":0.7},
      "exit":{"queue_ratio":0.5},"rules":{"P0":{"strategy":"degrade","mode":"stale_ok"},
      "P1":{"strategy":"degrade","mode":"skip_downstream","annotate":false}}}]})"));
}

TEST_CASE("a route's own rule that falls back needs a fallback") {
  check_rule_problem(R"({"miss":"fallback"})", "miss",
                     "found \"fallback\": there is no $.routes[0].fallback to give");
  load_good(route_rule(R"({"miss":"fallback"})", kFallback));
}

TEST_CASE("annotate goes with skip_downstream only and may not leave a rule without effect") {
  const char* only = "only with mode \"skip_downstream\", not with \"stale_ok\"";
  check_rule_problem(R"({"annotate":true})", "annotate", only);
  check_rule_problem(R"({"annotate":true,"strategy":"degrade","mode":"stale_ok"})", "annotate",
                     only, kCache);
  const std::string skip = R"("strategy":"degrade","mode":"skip_downstream")";
  check_rule_problem("{" + skip + R"(,"annotate":false})", "annotate",
                     "would change nothing: it needs $.routes[0].fallback or a miss");
  load_good(route_rule("{" + skip + R"(,"annotate":false})", kFallback));
  load_good(route_rule("{" + skip + R"(,"annotate":false,"miss":"deny"})"));
  load_good(route_rule("{" + skip + R"(,"annotate":true})"));
  load_good(route_rule("{" + skip + "}"));
  check_problem(with(R"("overload":{"rules":{"P1":{)" + skip + R"(,"annotate":false}}},
                       "routes":[{"name":"a","match":{},"rules":{"P1":{"mode":"skip_downstream"}}}])"),
                "$.routes[0].rules.P1.mode", "would change nothing");

  check_problem(with(R"("overload":{"rules":{"P1":{"annotate":true,"mode":"cache_only"}}})"),
                "$.overload.rules.P1.annotate", "not with \"cache_only\"");
  check_problem(with(R"("overload":{"rules":{"P1":{"annotate":true,"strategy":"degrade"}}})"),
                "$.overload.rules.P1.annotate", only);
  check_problem(R"({"upstreams":[{"name":"a","servers":["h:1"],
                     "overload":{"rules":{"P1":{"annotate":true,"mode":"stale_ok"}}}}]})",
                "$.upstreams[0].overload.rules.P1.annotate", only);
  check_problem(with(R"("overload":{"stages":[{"name":"ELEVATED","enter":{"queue_ratio":0.7},
                        "exit":{"queue_ratio":0.5},
                        "rules":{"P2":{"annotate":true,"strategy":"degrade"}}}]})"),
                "$.overload.stages[0].rules.P2.annotate", only);
  // Said once, for the stages that make it a rule that skips.
  load_good(with(R"("overload":{"rules":{"P1":{"annotate":true}},"stages":[
                    {"name":"CRITICAL","enter":{"queue_ratio":0.7},"exit":{"queue_ratio":0.5},
                     "rules":{"P1":{)" +
                 skip + "}}}]}"));
}

TEST_CASE("everything that is wrong about answers is reported at once") {
  const auto result = load_text(with(R"("routes":[{"name":"a","match":{"methods":["POST"]},
               "cache":{"max_bytes":65536,"max_entry_bytes":99999,"methods":["HEAD"]},
               "fallback":{"status":204,"html":{"file":"no-such-file.html"}}},
              {"name":"b","match":{},"rules":{"P1":{"mode":"stale_ok","miss":"fallback"}}}])"),
                                "f");
  CHECK_FALSE(result.config.has_value());
  const std::string all = listing(result.problems);
  CAPTURE(all);
  CHECK(result.problems.size() == 7);
  for (const char* path :
       {"$.routes[0].cache:", "$.routes[0].cache.max_entry_bytes:", "$.routes[0].cache.methods:",
        "$.routes[0].fallback.status:", "$.routes[0].fallback.html.file:",
        "$.routes[1].rules.P1.mode:", "$.routes[1].rules.P1.miss:"}) {
    CHECK_MESSAGE(all.find(path) != std::string::npos, path);
  }
}

TEST_CASE("a cache that cannot be read is not missed besides") {
  check_problem(route_rule(R"({"mode":"stale_ok"})", R"("cache":7)"), "$.routes[0].cache",
                "found 7");
  check_problem(route_rule(R"({"miss":"fallback"})", R"("fallback":7)"), "$.routes[0].fallback",
                "found 7");
}

}  // namespace spillway::config
