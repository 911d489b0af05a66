// What an operator sees of a limit that `"concurrency": "auto"` would raise and may not.
#include <doctest/doctest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "support/counting_backend.hpp"
#include "support/proxy_process.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "system/integration/wire.hpp"

namespace spillway {
namespace {

using namespace support;
using nlohmann::json;

// Which ask one request after the other until they are destroyed.
class Clients {
 public:
  Clients(std::uint16_t port, int number) {
    for (int n = 0; n < number; ++n) {
      threads_.emplace_back([this, port] {
        RawClient client(port);
        while (!is_over_) client.ask(get("/"));
      });
    }
  }
  ~Clients() {
    is_over_ = true;
    for (std::thread& each : threads_) each.join();
  }

 private:
  std::atomic<bool> is_over_{false};
  std::vector<std::thread> threads_;
};

json page_of(const ProxyProcess& proxy) {
  const std::string request = "GET /state HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const json state = json::parse(RawClient(proxy.admin_port()).ask(request).body);
  return state["upstreams"][0]["dispatch"]["limit_at_max"];
}

}  // namespace

TEST_CASE(
    "a limit that stands at its max while more is offered is an event, a metric and in /state") {
  CountingBackend backend({.service = 20ms});
  json settings = never_shed({{"dispatch", {{"concurrency", {{"min", 2}, {"max", 2}}}}},
                              {"log", {{"level", "info"}}}});
  ProxyProcess proxy(configuration({backend.address()}, settings));
  const auto metric = [&] {
    const std::string request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const std::string page = RawClient(proxy.admin_port()).ask(request).body;
    return page.find("\nspillway_limit_at_max{upstream=\"app\"} 1\n") != std::string::npos;
  };
  CHECK(page_of(proxy) == false);
  CHECK_FALSE(metric());
  const Clients clients(proxy.port(), 16);
  REQUIRE(proxy.process().wait_for_output(R"("event":"limit_at_max","upstream":"app","max":2)",
                                          Milliseconds{120'000}));
  CHECK(page_of(proxy) == true);
  CHECK(metric());
}

}  // namespace spillway
