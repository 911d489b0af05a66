#include "config/check/checks.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cctype>
#include <string>
#include <vector>

#include "config/format.hpp"
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
  CHECK(plain.total_timeout == Milliseconds{3'600'000});
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

// Of this machine besides loopback, as the kernel says it; empty if there is none.
std::string own_address() {
  ifaddrs* first = nullptr;
  REQUIRE(getifaddrs(&first) == 0);
  std::string found;
  for (const ifaddrs* one = first; one != nullptr && found.empty(); one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    char text[INET_ADDRSTRLEN];
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
    if (!is_loopback(text)) found = text;
  }
  freeifaddrs(first);
  return found;
}

TEST_CASE("a server that is the listener by an address of this machine is a problem") {
  const std::string own = own_address();
  if (own.empty()) {
    MESSAGE("not tested: no interface but loopback has an IPv4 address");
    return;
  }
  const auto file = [&](const std::string& listen, int port) {
    return R"({"listen":{"address":")" + listen + R"("},"upstreams":[{"name":"a","servers":[")" +
           own + ":" + std::to_string(port) + "\"]}]}";
  };
  for (const char* any : {"0.0.0.0", "::"})
    check_problem(file(any, 8080), "$.upstreams[0].servers[0]", "where $.listen accepts");
  check_problem(file(own, 8080), "$.upstreams[0].servers[0]", "where $.listen accepts");
  load_good(file("0.0.0.0", 8081));
  load_good(file("127.0.0.1", 8080));
  load_good(file("::1", 8080));
}

TEST_CASE("a server that is the listener by the name of this machine is a problem") {
  char own[256] = {};
  REQUIRE(gethostname(own, sizeof own - 1) == 0);
  const std::string name = own;
  if (name == "localhost") {
    MESSAGE("not tested: this machine has no name of its own");
    return;
  }
  std::string capitals = name;
  for (char& c : capitals) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const auto file = [&](const std::string& listen, const std::string& server) {
    return R"({"listen":{"address":")" + listen + R"("},"upstreams":[{"name":"a","servers":[")" +
           server + "\"]}]}";
  };
  for (const char* any : {"0.0.0.0", "::"}) {
    for (const std::string& host : {name, name + ".", capitals}) {
      CAPTURE(host);
      check_problem(file(any, host + ":8080"), "$.upstreams[0].servers[0]",
                    "where $.listen accepts");
    }
    load_good(file(any, name + ":8081"));
    load_good(file(any, name + "x:8080"));
    load_good(file(any, "x." + name + ":8080"));
  }
  // It may stand for another address than that.
  load_good(file("127.0.0.1", name + ":8080"));
  check_problem(R"({"admin":{"address":"0.0.0.0","token":"0123456789"},"upstreams":[{"name":"a",)"
                R"("servers":[")" +
                    name + ":9090\"]}]}",
                "$.upstreams[0].servers[0]", "where $.admin accepts");
}

TEST_CASE("a server that is the admin listener is a problem") {
  const auto file = [](const std::string& admin, const std::string& server) {
    return R"({"admin":{"address":")" + admin +
           R"(","token":"0123456789"},"upstreams":[{"name":"a","servers":[")" + server + "\"]}]}";
  };
  const std::pair<const char*, const char*> own[] = {{"127.0.0.1", "127.0.0.1:9090"},
                                                     {"127.0.0.1", "localhost:9090"},
                                                     {"127.0.0.1", "localhost.:9090"},
                                                     {"127.0.0.1", "[::ffff:127.0.0.1]:9090"},
                                                     {"127.0.0.1", "0x7f000001:9090"},
                                                     {"127.0.0.1", "0.0.0.0:9090"},
                                                     {"::1", "[::]:9090"},
                                                     {"0.0.0.0", "127.0.0.1:9090"},
                                                     {"0.0.0.0", "127.1.2.3:9090"},
                                                     {"::", "[::1]:9090"},
                                                     {"::1", "localhost:9090"}};
  for (const auto& [admin, server] : own) {
    CAPTURE(admin);
    CAPTURE(server);
    check_problem(file(admin, server), "$.upstreams[0].servers[0]", "where $.admin accepts");
  }
  load_good(file("127.0.0.1", "127.0.0.1:9091"));
  load_good(file("127.0.0.1", "notlocalhost:9090"));
  load_good(file("127.0.0.1", "admin.localhost:9090"));  // a container's name, perhaps
  load_good(file("127.0.0.1", "localhost.example:9090"));
  load_good(file("127.0.0.1", "192.0.2.1:9090"));
  load_good(R"({"admin":{"port":0},"upstreams":[{"name":"a","servers":["127.0.0.1:9090"]}]})");
}

TEST_CASE("a health check's time is at most its interval where it is not given") {
  const auto timeout = [](const std::string& check) {
    return load_good(upstream(R"("health_check":)" + check)).upstreams.at(0).health_check->timeout;
  };
  CHECK(timeout(R"({"interval_ms":500})") == Milliseconds{500});
  CHECK(timeout(R"({"interval_ms":5000})") == Milliseconds{1000});
  CHECK(timeout(R"({"interval_ms":500,"timeout_ms":20})") == Milliseconds{20});
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
