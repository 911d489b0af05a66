// More connections than there is room for.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <chrono>
#include <deque>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "support/counting_backend.hpp"
#include "support/proxy_process.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "system/integration/wire.hpp"

namespace spillway {
namespace {

using namespace support;

// How long a client that must not be answered is watched.
constexpr Milliseconds kQuiet{200};

std::size_t descriptors_of(pid_t process) {
  const std::filesystem::directory_iterator open("/proc/" + std::to_string(process) + "/fd");
  return static_cast<std::size_t>(std::distance(begin(open), end(open)));
}

}  // namespace

TEST_CASE("connections beyond the cap wait in the backlog until one ends") {
  CountingBackend backend({});
  const ProxyUnderTest proxy(backend.address(), {{"limits", {{"connections", 4}}}});
  std::deque<RawClient> served;
  for (int n = 0; n < 4; ++n) {
    CHECK(served.emplace_back(proxy.port()).ask(get("/")).status() == 200);
  }
  RawClient waiting(proxy.port());
  waiting.send(get("/"));
  CHECK(!waiting.has_bytes(kQuiet));
  CHECK(served.front().ask(get("/")).status() == 200);  // the others are not disturbed
  CHECK(proxy.metric_becomes(R"(spillway_connections{side="client"})", 4));

  served.pop_back();
  CHECK(waiting.read_response().status() == 200);
}

TEST_CASE("at the cap whoever waits is let in as soon as one leaves") {
  constexpr int kClients = 300;
  const auto serve_all = [](int most) {
    CountingBackend backend({});
    const ProxyUnderTest proxy(backend.address(), never_shed({{"limits", {{"connections", most}}},
                                                              {"classes",
                                                               {{{"name", "P0"},
                                                                 {"max_queue", 1000},
                                                                 {"max_wait_ms", 10'000},
                                                                 {"sla_ms", 20'000}}}}}));
    const auto begin = std::chrono::steady_clock::now();
    std::deque<RawClient> clients;
    for (int n = 0; n < kClients; ++n)
      clients.emplace_back(proxy.port()).send(get("/", "Connection: close\r\n"));
    for (RawClient& client : clients) {
      CHECK(client.read_response().status() == 200);
      client.close();
    }
    return std::chrono::steady_clock::now() - begin;
  };
  // The control: all at once. A pause of 50 ms for every three of them would take five seconds.
  const auto uncapped = serve_all(kClients);
  CHECK(serve_all(3) < uncapped + 2500ms);
}

TEST_CASE("a cap that a reload raises lets waiting connections in") {
  CountingBackend backend({});
  const auto settings = [&](int most) {
    return configuration({backend.address()}, {{"limits", {{"connections", most}}}});
  };
  ProxyUnderTest proxy(settings(1));
  RawClient served(proxy.port());
  CHECK(served.ask(get("/")).status() == 200);
  RawClient waiting(proxy.port());
  CHECK(!waiting.send(get("/")).has_bytes(kQuiet));
  CHECK(proxy.reload(settings(2)).status() == 200);
  CHECK(waiting.read_response().status() == 200);
  RawClient third(proxy.port());
  CHECK(!third.send(get("/")).has_bytes(kQuiet));
}

TEST_CASE("at the limit of connections the longest idle ones give way to new ones") {
  CountingBackend backend({.service = 3s});
  const ProxyUnderTest proxy(backend.address(), never_shed({{"limits", {{"connections", 12}}}}));
  std::deque<RawClient> busy, silent;
  for (int n = 0; n < 2; ++n) busy.emplace_back(proxy.port()).send(get("/"));
  for (int n = 0; n < 10; ++n) silent.emplace_back(proxy.port());  // not a byte
  CHECK(proxy.metric_becomes(R"(spillway_connections{side="client"})", 12));
  RawClient newcomer(proxy.port());
  newcomer.send("BAD\r\n\r\n");  // answered at once
  CHECK(!newcomer.has_bytes(kQuiet));
  CHECK(newcomer.read_response().status() == 400);
  // Those of each worker that came first.
  CHECK((silent[0].is_closed(0ms) || silent[1].is_closed(0ms)));
  CHECK_FALSE(silent[8].is_closed(0ms));
  CHECK_FALSE(silent[9].is_closed(0ms));
  for (RawClient& one : busy) CHECK(one.read_response().status() == 200);
}

TEST_CASE("at the limit of connections idle ones of keep-alive give way as silent ones do") {
  CountingBackend backend({});
  const ProxyUnderTest proxy(backend.address(), never_shed({{"limits", {{"connections", 12}}}}));
  std::deque<RawClient> kept;
  for (int n = 0; n < 12; ++n) CHECK(kept.emplace_back(proxy.port()).ask(get("/")).status() == 200);
  RawClient newcomer(proxy.port());
  newcomer.send(get("/"));
  CHECK(newcomer.read_response().status() == 200);
  CHECK((kept[0].is_closed(0ms) || kept[1].is_closed(0ms)));
  CHECK_FALSE(kept[10].is_closed(0ms));
  CHECK_FALSE(kept[11].is_closed(0ms));
}

TEST_CASE("at the limit of connections the slowest heads give way when nobody is idle") {
  CountingBackend backend({.service = 3s});
  const ProxyUnderTest proxy(
      backend.address(),
      never_shed({{"limits", {{"connections", 12}, {"header_timeout_ms", 60'000}}}}));
  std::deque<RawClient> busy, slow;
  for (int n = 0; n < 2; ++n) busy.emplace_back(proxy.port()).send(get("/"));
  const std::string_view head = "GET / HTTP/1.1\r\nHost: localhost\r\n";
  for (int n = 0; n < 10; ++n) slow.emplace_back(proxy.port()).send(head);
  CHECK(proxy.metric_becomes(R"(spillway_connections{side="client"})", 12));
  RawClient newcomer(proxy.port());
  newcomer.send("BAD\r\n\r\n");  // answered at once
  CHECK(!newcomer.has_bytes(kQuiet));
  for (RawClient& one : slow) one.send("X");  // it is their age that counts, not their silence
  CHECK(newcomer.read_response().status() == 400);
  // Those of each worker that came first, and no more than there is need for.
  std::size_t ended = 0;
  for (RawClient& one : slow) ended += one.has_bytes(0ms) ? 1 : 0;
  CHECK(ended >= 1);
  CHECK(ended <= 2);  // one of each worker
  RawClient& first = slow[0].has_bytes(0ms) ? slow[0] : slow[1];
  CHECK(first.read_response().status() == 408);
  CHECK(first.is_closed());
  CHECK(slow[9].ask(": y\r\n\r\n").status() == 200);  // the youngest goes on
  for (RawClient& one : busy) CHECK(one.read_response().status() == 200);
}

TEST_CASE("a slow head is left alone while there is room") {
  CountingBackend backend({});
  const ProxyUnderTest proxy(backend.address(), never_shed({{"limits", {{"connections", 12}}}}));
  std::deque<RawClient> slow;
  for (int n = 0; n < 11; ++n)
    slow.emplace_back(proxy.port()).send("GET / HTTP/1.1\r\nHost: localhost\r\n");
  CHECK(!slow[0].has_bytes(1500ms));
  for (RawClient& one : slow) CHECK(one.ask("\r\n").status() == 200);
}

// From here on the process may open only so many descriptors more.
void leave_descriptors(ProxyProcess& proxy, std::size_t more) {
  const std::size_t most = descriptors_of(proxy.process().pid()) + more;
  const rlimit limit{most, most};
  REQUIRE(::prlimit(proxy.process().pid(), RLIMIT_NOFILE, &limit, nullptr) == 0);
}

TEST_CASE("without descriptors left silent connections and slow heads give way to new ones") {
  CountingBackend backend({});
  ProxyProcess proxy(
      configuration({backend.address()}, {{"limits", {{"header_timeout_ms", 60'000}}}}));
  std::string first_bytes;
  SUBCASE("silent") {}
  SUBCASE("slow heads") { first_bytes = "GET / HTTP/1.1\r\nHost: localhost\r\n"; }
  RawClient served(proxy.port());  // with its connection to the backend
  CHECK(served.ask(get("/")).status() == 200);
  leave_descriptors(proxy, 8);
  std::deque<RawClient> holders;
  for (int n = 0; n < 12; ++n) holders.emplace_back(proxy.port()).send(first_bytes);
  RawClient newcomer(proxy.port());
  newcomer.send("BAD\r\n\r\n");  // answered without a backend
  CHECK(newcomer.read_response().status() == 400);
}

TEST_CASE("without descriptors left accepting pauses and everything else goes on") {
  CountingBackend backend({});
  ProxyProcess proxy(configuration({backend.address()}));
  std::deque<RawClient> served;
  CHECK(served.emplace_back(proxy.port()).ask(get("/")).status() == 200);
  leave_descriptors(proxy, 8);

  // They take what is left, until one is not accepted. Who is idle for a second would give way.
  for (bool accepted = true; accepted && served.size() < 20;) {
    for (RawClient& client : served) CHECK(client.ask(get("/")).status() == 200);
    accepted = served.emplace_back(proxy.port()).send(get("/")).has_bytes(kQuiet);
    if (accepted) CHECK(served.back().read_response().status() == 200);
  }
  REQUIRE(served.size() > 4);
  REQUIRE(served.size() < 20);
  RawClient waiting = std::move(served.back());
  served.pop_back();
  CHECK(!waiting.has_bytes(kQuiet));
  // The first that asks passes its place on with the response. Then two are not served at a time:
  // for the second one's connection to the backend there is no descriptor.
  CHECK(served.front().ask(get("/")).status() == 200);
  CHECK(waiting.read_response().status() == 200);
  served.pop_front();
  for (RawClient& client : served) CHECK(client.ask(get("/")).status() == 200);
}

TEST_CASE("an idle connection is closed after its time and one in use is not") {
  CountingBackend backend({});
  const ProxyUnderTest proxy(backend.address(), {{"limits", {{"idle_timeout_ms", 300}}}});
  RawClient used(proxy.port()), idle(proxy.port()), silent(proxy.port());
  CHECK(idle.ask(get("/")).status() == 200);
  const auto begin = std::chrono::steady_clock::now();
  while (!idle.is_closed(20ms)) REQUIRE(used.ask(get("/")).status() == 200);
  const auto took = std::chrono::steady_clock::now() - begin;
  CHECK(took >= 290ms);
  CHECK(took < 1s);
  CHECK(silent.is_closed());  // it never asked for anything
  CHECK(used.ask(get("/")).status() == 200);

  // So are the connections to the upstream.
  CHECK(used.is_closed());
  CHECK(proxy.metric_becomes(R"(spillway_connections{side="upstream"})", 0));
}

}  // namespace spillway
