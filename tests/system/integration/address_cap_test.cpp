// How many connections one address may have.
#include <doctest/doctest.h>

#include <csignal>
#include <deque>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "support/counting_backend.hpp"
#include "support/proxy_process.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

constexpr const char* kRefused = R"(spillway_connections_refused_total{reason="address"})";

nlohmann::json cap(int connections) {
  return {{"limits", {{"connections_per_address", connections}}}};
}

// Reset at once; the reset may be seen as early as in connect().
bool is_refused(std::uint16_t port, const char* from = nullptr) {
  try {
    RawClient client(port, 0, from);
    return !client.try_send(get("/")) || (client.read_to_end().empty() && client.was_reset());
  } catch (const std::exception&) {
    return true;
  }
}

TEST_CASE("an address has so many connections over all workers and others have theirs") {
  CountingBackend backend({});
  nlohmann::json settings = cap(4);
  settings["workers"] = 3;
  const ProxyUnderTest proxy(backend.address(), settings);
  std::deque<RawClient> greedy;
  for (int i = 0; i < 4; ++i) {
    CHECK(greedy.emplace_back(proxy.port()).ask(get("/")).status() == 200);
  }
  for (int i = 0; i < 50; ++i) CHECK(is_refused(proxy.port()));
  CHECK(proxy.metric_becomes(kRefused, 50));
  CHECK(proxy.metric_becomes(R"(spillway_connections{side="client"})", 4));
  for (RawClient& client : greedy) CHECK(client.ask(get("/")).status() == 200);
  RawClient other(proxy.port(), 0, "127.0.0.2");
  CHECK(other.ask(get("/")).status() == 200);

  // Each that ends makes room for one, whichever worker had it.
  for (int i = 0; i < 8; ++i) {
    greedy.pop_front();
    CHECK(proxy.metric_becomes(R"(spillway_connections{side="client"})", 4));
    CHECK(greedy.emplace_back(proxy.port()).ask(get("/")).status() == 200);
    CHECK(is_refused(proxy.port()));
  }
}

TEST_CASE("without a cap and from a trusted peer as many connections come as there is room for") {
  CountingBackend backend({});
  nlohmann::json trusting = cap(2);
  trusting["trusted_peers"] = {"127.0.0.3"};
  const ProxyUnderTest uncapped(backend.address());
  const ProxyUnderTest capped(backend.address(), trusting);
  std::deque<RawClient> clients;
  for (int i = 0; i < 10; ++i) {
    CHECK(clients.emplace_back(uncapped.port()).ask(get("/")).status() == 200);
    CHECK(clients.emplace_back(capped.port(), 0, "127.0.0.3").ask(get("/")).status() == 200);
  }
  CHECK(uncapped.metric(kRefused) == 0);
  CHECK(capped.metric(kRefused) == 0);
}

TEST_CASE("a flood of connections from one address is logged now and then") {
  CountingBackend backend({});
  ProxyProcess proxy(configuration({backend.address()}, cap(1)));
  RawClient first(proxy.port());
  CHECK(first.ask(get("/")).status() == 200);
  for (int i = 0; i < 300; ++i) CHECK(is_refused(proxy.port()));
  CHECK(first.ask(get("/")).status() == 200);
  proxy.process().signal(SIGTERM);
  first.close();
  CHECK(proxy.process().wait() == 0);
  const std::string& log = proxy.process().err();
  std::size_t lines = 0;
  for (std::size_t at = log.find("of 127.0.0.1: it has 1 already (limits.connections_per_address)");
       at != std::string::npos;
       at = log.find("of 127.0.0.1: it has 1 already (limits.connections_per_address)", at + 1)) {
    ++lines;
  }
  CHECK(lines >= 1);
  CHECK(lines < 20);
}

}  // namespace
}  // namespace spillway::support
