#include "config/check_upstreams.hpp"

#include <string>
#include <vector>

#include "unit/config/support.hpp"

namespace spillway::config {
namespace {

std::string upstream(const std::string& members) {
  return R"({"upstreams":[{"name":"app","servers":["a:1","b:1"],)" + members + "}]}";
}

const std::string kPath = "$.upstreams[0]";

TEST_CASE("servers are balanced and ejected and requests retried unless the file says otherwise") {
  const Upstream plain = load_good(with("")).upstreams[0];
  CHECK(plain.balance == Balance::least_inflight);
  CHECK_FALSE(plain.health_check);
  CHECK_FALSE(plain.total_timeout);
  CHECK(plain.ejection.consecutive_failures == 5);
  CHECK(plain.retries.attempts == 1);
  const Upstream own =
      load_good(upstream(R"("balance":"power_of_two","ejection":{"consecutive_failures":0},)"
                         R"("retries":{"attempts":0},"health_check":{"path":"/up?deep=1"})"))
          .upstreams[0];
  CHECK(own.balance == Balance::power_of_two);
  CHECK(own.ejection.consecutive_failures == 0);
  CHECK(own.retries.attempts == 0);
  REQUIRE(own.health_check);
  CHECK(own.health_check->path == "/up?deep=1");
}

TEST_CASE("a duration that is doubled up to a bound starts below the bound") {
  check_problem(upstream(R"("ejection":{"base_ms":300001})"), kPath + ".ejection.base_ms",
                "allowed: up to " + kPath + ".ejection.max_ms (300000)");
  check_problem(upstream(R"("retries":{"backoff_ms":251})"), kPath + ".retries.backoff_ms",
                "allowed: up to " + kPath + ".retries.max_backoff_ms (250)");
}

TEST_CASE("a health check must be able to succeed and to end before the next one") {
  const std::string path = kPath + ".health_check";
  check_problem(upstream(R"("health_check":{"min_status":400})"), path + ".min_status",
                "found 400, allowed: up to " + path + ".max_status (399)");
  check_problem(upstream(R"("health_check":{"timeout_ms":2001})"), path + ".timeout_ms",
                "found 2001, allowed: up to " + path + ".interval_ms (2000)");
  check_problem(upstream(R"("health_check":{"path":"up"})"), path + ".path", "starts with '/'");
  check_problem(upstream(R"("health_check":{"path":"/a b"})"), path + ".path", "starts with '/'");
}

TEST_CASE("a server may not be the listener itself") {
  struct Listener {
    const char* address;
    std::vector<std::string> itself;
    std::vector<std::string> others;
  };
  const std::vector<Listener> all{
      {"127.0.0.1",
       {"127.0.0.1:8080", "localhost:8080", "LocalHost:8080", "0.0.0.0:8080"},
       {"127.0.0.1:8081", "127.0.0.2:8080", "[::1]:8080", "app.example:8080", "192.0.2.1:8080"}},
      {"0.0.0.0",
       {"127.0.0.1:8080", "127.0.0.2:8080", "localhost:8080", "0.0.0.0:8080"},
       {"[::1]:8080"}},
      {"::",
       {"127.0.0.1:8080", "[::1]:8080", "[::]:8080", "localhost:8080"},
       {"[2001:db8::1]:8080"}},
      {"::1", {"[::1]:8080", "[::]:8080", "localhost:8080"}, {"127.0.0.1:8080"}},
      {"192.0.2.1", {"192.0.2.1:8080"}, {"127.0.0.1:8080", "localhost:8080", "192.0.2.2:8080"}}};
  const auto file = [](const Listener& listener, const std::string& server) {
    return R"({"listen":{"address":")" + std::string(listener.address) +
           R"("},"upstreams":[{"name":"one","servers":["app.example:1"]},)" +
           R"({"name":"two","servers":["app.example:1",")" + server + "\"]}]}";
  };
  for (const Listener& listener : all) {
    CAPTURE(listener.address);
    for (const std::string& server : listener.itself) {
      check_problem(file(listener, server), "$.upstreams[1].servers[1]",
                    "found \"" + server + "\", where $.listen accepts");
    }
    for (const std::string& server : listener.others) load_good(file(listener, server));
  }
  // Whichever port that will be.
  load_good(R"({"listen":{"port":0},"upstreams":[{"name":"a","servers":["127.0.0.1:8080"]}]})");
}

TEST_CASE("a route names the protocols that may be upgraded to and never h2c") {
  const auto route = [](const std::string& upgrades) {
    return with(R"("default_route":{"upgrades":)" + upgrades + "}");
  };
  CHECK(load_good(with("")).default_route().upgrades == std::vector<std::string>{"websocket"});
  CHECK(load_good(route("[]")).default_route().upgrades.empty());
  for (const char* refused : {R"(["h2c"])", R"(["WebSocket"])", R"([""])", R"(["a b"])"}) {
    check_problem(route(refused), "$.default_route.upgrades[0]", "name of a protocol");
  }
}

}  // namespace
}  // namespace spillway::config
