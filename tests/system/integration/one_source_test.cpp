// Errors that are one source's are no overload of the upstream: over real sockets, as shipped.
#include <doctest/doctest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/overloaded.hpp"
#include "system/integration/wire.hpp"

namespace spillway {
namespace {

using namespace support;
using nlohmann::json;

const json& app(const json& state) { return state["upstreams"][0]; }

// One request of five fails, all of a class that rules deny under overload. `good`, `bad`: the
// clients; `path`: of the failing requests, whose beginning is "/fail".
struct Mixed {
  RawClient& good;
  RawClient& bad;
  int refused = 0;

  void ask(const std::string& path) {
    for (int n = 0; n < 4; ++n) refused += good.ask(get("/good")).status() == 200 ? 0 : 1;
    refused += bad.ask(get(path)).status() == 500 ? 0 : 1;
  }
};

// Answers 500 to whatever begins with /fail, and while `broken` to all.
struct Failing {
  std::atomic<bool> broken{false};
  ScriptedPeer peer{[this](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      const bool fails = broken || request->target().starts_with("/fail");
      const bool sent = fails ? proxy.send("HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n")
                              : proxy.send(ok(request->target()));
      if (!sent) return;
    }
  }};
};

}  // namespace

TEST_CASE("a client that asks for what fails makes no burst, and /state and /metrics say whose") {
  Failing backend;
  // Ejection is about servers: a single one cannot be ejected anyway.
  const ProxyUnderTest proxy(backend.peer.address());
  RawClient good(proxy.port()), bad(proxy.port(), 0, "127.0.0.2");
  Mixed mixed{good, bad};
  json seen;
  const Deadline deadline;
  for (int n = 0; seen.is_null(); ++n) {
    REQUIRE(!deadline.passed());
    mixed.ask("/fail/" + std::to_string(n));  // never the same path
    if (n % 20 != 0) continue;
    const json state = proxy.state();
    CHECK(app(state)["state"] == "NORMAL");
    if (app(state)["errors"]["of_one_source"] == true) seen = app(state);
  }
  CHECK(seen["errors"]["left_out"]["source"] == "client");
  CHECK(seen["errors"]["left_out"]["name"] == "127.0.0.2");
  CHECK(seen["errors"]["total_rate"] >= 0.15);
  CHECK(seen["signals"]["error_rate"]["value"] == 0);
  CHECK(mixed.refused == 0);
  CHECK(
      proxy.metric(
          R"(spillway_overload_transitions_total{upstream="app",to="OVERLOADED",reason="ERROR_BURST"})") ==
      0);
  // All fail now: the upstream's own burst.
  backend.broken = true;
  bool is_burst = false;
  while (!is_burst) {
    REQUIRE(!deadline.passed());
    good.ask(get("/good"));
    bad.ask(get("/good"));
    is_burst = app(proxy.state())["reason"] == "ERROR_BURST";
  }
  CHECK(proxy.metric(R"(spillway_errors_of_one_source{upstream="app",source="client"})") == 0);
}

TEST_CASE("two and four clients that ask for what fails make no burst, each on paths of its own") {
  for (const int clients : {2, 4}) {
    CAPTURE(clients);
    Failing backend;
    const ProxyUnderTest proxy(backend.peer.address());
    const auto from = [&](int last) {
      return RawClient(proxy.port(), 0, ("127.0.0." + std::to_string(last)).c_str());
    };
    std::vector<RawClient> good, bad;
    for (int n = 0; n < 16; ++n) good.push_back(from(100 + n));
    for (int n = 0; n < clients; ++n) bad.push_back(from(2 + n));
    json seen;
    int refused = 0;
    const auto ask_good = [&](std::size_t n) {
      refused += good[n % good.size()].ask(get("/good")).status() == 200 ? 0 : 1;
    };
    const Deadline deadline;
    // Some good answers first: before there are any of others, all count.
    for (std::size_t n = 0; n < 60; ++n) ask_good(n);
    for (std::size_t n = 0; seen.is_null(); ++n) {
      REQUIRE(!deadline.passed());
      for (std::size_t i = 0; i < 4; ++i) ask_good(4 * n + i);
      for (std::size_t i = 0; i < bad.size(); ++i) {
        const std::string path = "/fail/" + std::to_string(n * bad.size() + i);
        refused += bad[i].ask(get(path)).status() == 500 ? 0 : 1;
      }
      if (n % 20 != 0) continue;
      const json state = proxy.state();
      CHECK(app(state)["state"] == "NORMAL");
      const json& errors = app(state)["errors"];
      if (errors["of_one_source"] == true && errors["left_out"].is_object()) seen = app(state);
    }
    CHECK(seen["errors"]["left_out"]["source"] == "client");
    CHECK(seen["errors"]["left_out"]["sources"] >= clients / 2);  // two may share a bucket
    CHECK(seen["signals"]["error_rate"]["value"] == 0);
    CHECK(refused == 0);
  }
}

TEST_CASE("a path that fails for all its clients makes no burst") {
  Failing backend;
  const ProxyUnderTest proxy(backend.peer.address());
  RawClient good(proxy.port());
  Mixed mixed{good, good};  // one address: no client stands out
  json seen;
  const Deadline deadline;
  for (int n = 0; seen.is_null(); ++n) {
    REQUIRE(!deadline.passed());
    mixed.ask("/fail/here?n=" + std::to_string(n));
    if (n % 20 != 0) continue;
    const json state = proxy.state();
    CHECK(app(state)["state"] == "NORMAL");
    if (app(state)["errors"]["of_one_source"] == true) seen = app(state);
  }
  CHECK(seen["errors"]["left_out"]["source"] == "path");
  CHECK(seen["errors"]["left_out"]["name"] == "/fail/here");
  CHECK(mixed.refused == 0);
}

TEST_CASE("behind a trusted proxy the client is the one that it speaks for") {
  Failing backend;
  const ProxyUnderTest proxy(backend.peer.address(), {{"trusted_peers", {"127.0.0.1"}}});
  RawClient balancer(proxy.port());
  json seen;
  const Deadline deadline;
  for (int n = 0; seen.is_null(); ++n) {
    REQUIRE(!deadline.passed());
    for (int i = 0; i < 4; ++i) {
      const std::string from = "X-Forwarded-For: 192.0.2." + std::to_string(n % 200) + "\r\n";
      CHECK(balancer.ask(get("/good", from)).status() == 200);
    }
    balancer.ask(get("/fail/" + std::to_string(n),
                     "X-Forwarded-For: 2001:db8::" + std::to_string(n % 9999) + "\r\n"));
    if (n % 20 != 0) continue;
    if (const json state = proxy.state(); app(state)["errors"]["of_one_source"] == true)
      seen = app(state);
  }
  CHECK(seen["state"] == "NORMAL");
  CHECK(seen["errors"]["left_out"]["source"] == "client");
  CHECK(seen["errors"]["left_out"]["name"] == "2001:db8::/64");
}

TEST_CASE("nor does one customer make a burst, from another network of 64 bits each time") {
  Failing backend;
  const ProxyUnderTest proxy(backend.peer.address(), {{"trusted_peers", {"127.0.0.1"}}});
  RawClient balancer(proxy.port());
  const auto ask = [&](const std::string& path, const std::string& from) {
    return balancer.ask(get(path, "X-Forwarded-For: " + from + "\r\n")).status();
  };
  int number = 0;
  // Two of five fail, each of another client and for another path.
  const auto ask_some = [&](const std::string& network, const std::string& rest) {
    int refused = 0;
    for (int i = 0; i < 3; ++i)
      refused += ask("/good", "192.0." + std::to_string(++number % 200) + ".1") == 200 ? 0 : 1;
    for (int i = 0; i < 2; ++i)
      ask("/fail/" + std::to_string(number + i),
          network + std::to_string((2 * number + i) % 9999) + rest);
    return refused;
  };
  for (number = 0; number < 60; ++number) ask("/good", "192.0." + std::to_string(number) + ".1");
  json seen;
  int refused = 0;
  const Deadline deadline;
  while (seen.is_null()) {
    REQUIRE(!deadline.passed());
    for (int i = 0; i < 20; ++i) refused += ask_some("2001:db8:0:", "::1");
    if (const json state = proxy.state(); app(state)["errors"]["of_one_source"] == true)
      seen = app(state);
  }
  CHECK(seen["state"] == "NORMAL");
  CHECK(seen["errors"]["left_out"]["source"] == "tenant");
  CHECK(seen["errors"]["left_out"]["name"] == "2001:db8::/48");
  CHECK(refused == 0);
  // The control: each in another /48, these are the upstream's.
  bool is_burst = false;
  while (!is_burst) {
    REQUIRE(!deadline.passed());
    for (int i = 0; i < 20; ++i) ask_some("2001:db8:", "::1");
    is_burst = app(proxy.state())["reason"] == "ERROR_BURST";
  }
}

TEST_CASE("a server that hangs is ejected as soon where there is only one path") {
  const ScriptedPeer hung([](PeerConnection& proxy) {
    while (proxy.read_request()) {
    }
  });
  const ScriptedPeer sound([](PeerConnection& proxy) {
    while (proxy.read_request()) proxy.send(ok("done"));
  });
  const ProxyUnderTest proxy(configuration(
      {hung.address(), sound.address()},
      never_shed({{"app", {{"balance", "round_robin"}, {"response_timeout_ms", 50}}}})));
  int timed_out = 0;
  for (int n = 0; n < 24; ++n) {
    RawClient client(proxy.port(), 0, ("127.0.1." + std::to_string(n + 1)).c_str());
    timed_out += client.ask(get("/graphql")).status() == 504 ? 1 : 0;
  }
  CHECK(timed_out == 5);
}

}  // namespace spillway
