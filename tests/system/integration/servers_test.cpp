// Several servers behind one upstream: their shares, and which are left out.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/full_backlog.hpp"
#include "support/mortal_server.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/stopwatch.hpp"
#include "system/integration/wire.hpp"

namespace spillway::support {
namespace {

using nlohmann::json;

json over(const std::vector<std::string>& servers, const json& upstream) {
  return configuration(servers, never_shed({{"app", upstream}}));
}

// Every client asks again as soon as it is answered, until so many were asked for in all.
std::map<int, int> ask_from_many(const ProxyUnderTest& proxy, int clients, int requests) {
  std::atomic<int> left{requests};
  std::vector<std::map<int, int>> statuses(static_cast<std::size_t>(clients));
  std::vector<std::thread> threads;
  for (std::map<int, int>& mine : statuses) {
    threads.emplace_back([&] {
      RawClient client(proxy.port());
      while (left.fetch_sub(1) > 0) ++mine[client.ask(get("/")).status()];
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::map<int, int> sum;
  for (const auto& mine : statuses) {
    for (const auto& [status, count] : mine) sum[status] += count;
  }
  return sum;
}

std::string sample(std::string_view family, const std::string& server) {
  return "spillway_server_" + std::string(family) + "{upstream=\"app\",server=\"" + server + "\"}";
}

// How many are ejected or unwell.
int servers_down(const ProxyUnderTest& proxy) {
  int down = 0;
  const json servers = proxy.state()["upstreams"][0]["servers"];
  for (const json& server : servers) down += server["up"] == false ? 1 : 0;
  return down;
}

bool settles(const ProxyUnderTest& proxy, const std::vector<std::string>& servers) {
  bool settled = proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0);
  for (const std::string& server : servers)
    settled = proxy.metric_becomes(sample("inflight", server), 0) && settled;
  return settled;
}

}  // namespace

TEST_CASE("three servers get equal shares whatever the balance") {
  for (const char* balance : {"least_inflight", "round_robin", "power_of_two"}) {
    CAPTURE(balance);
    std::array<MortalServer, 3> servers;
    const ProxyUnderTest proxy(
        over({servers[0].address(), servers[1].address(), servers[2].address()},
             {{"balance", balance}}));
    RawClient client(proxy.port());
    for (int n = 0; n < 300; ++n) CHECK(client.ask(get("/")).status() == 200);
    CHECK(proxy.state()["upstreams"][0]["balance"] == balance);
    // Who draws is only nearly equal.
    const std::uint64_t off = std::string_view(balance) == "power_of_two" ? 40 : 0;
    for (const MortalServer& server : servers) {
      CHECK(server.requests() >= 100 - off);
      CHECK(server.requests() <= 100 + off);
      CHECK(proxy.metric(sample("up", server.address())) == 1);
    }
    CHECK(settles(proxy, {servers[0].address(), servers[1].address(), servers[2].address()}));
  }
}

TEST_CASE("each worker keeps a connection to each server however low the limit") {
  std::array<MortalServer, 10> servers;
  std::vector<std::string> all;
  for (const MortalServer& server : servers) all.push_back(server.address());
  json limit = 2;
  SUBCASE("that is given") {}
  SUBCASE("that is found") { limit = {{"min", 1}, {"initial", 2}}; }
  json settings = over(all, {{"dispatch", {{"concurrency", limit}}}});
  settings["workers"] = 2;
  const ProxyUnderTest proxy(settings);
  CHECK(ask_from_many(proxy, 2, 400)[200] == 400);
  std::uint64_t opened = 0;
  for (const MortalServer& server : servers) opened += server.accepted();
  CHECK(opened <= 2 + 2 * servers.size());
}

TEST_CASE("requests that a server refuses are shared equally among the others") {
  for (const char* balance : {"least_inflight", "round_robin"}) {
    CAPTURE(balance);
    const RefusingPort refusing;
    std::array<MortalServer, 2> servers;
    const ProxyUnderTest proxy(
        over({refusing.address(), servers[0].address(), servers[1].address()},
             {{"balance", balance}, {"ejection", {{"consecutive_failures", 0}}}}));
    RawClient client(proxy.port());
    for (int n = 0; n < 120; ++n) CHECK(client.ask(get("/")).status() == 200);
    CHECK(servers[0].requests() == 60);
    CHECK(servers[1].requests() == 60);
  }
}

TEST_CASE("a request waits for two servers that do not answer and for no more of them") {
  constexpr Milliseconds kConnect{400};
  const std::array<FullBacklog, 6> silent{};
  std::vector<std::string> all;
  for (const FullBacklog& server : silent) all.push_back(server.address());
  const json upstream = {{"connect_timeout_ms", kConnect.count()},
                         {"balance", "round_robin"},
                         {"ejection", {{"consecutive_failures", 0}}}};
  for (const char* method : {"GET", "POST"}) {
    CAPTURE(method);
    const ProxyUnderTest proxy(over(all, upstream));
    const Stopwatch stopwatch;
    const Message answer =
        RawClient(proxy.port())
            .ask(std::string(method) + " / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    CHECK(answer.status() == 504);
    CHECK(answer.field("Proxy-Status").value_or("").find("error=connection_timeout") !=
          std::string::npos);
    CHECK(stopwatch.elapsed() >= 2 * kConnect);
    CHECK(stopwatch.elapsed() < 3 * kConnect);  // all would take six
    CHECK(proxy.metric(R"(spillway_retries_total{upstream="app",result="sent"})") == 0);
    CHECK(proxy.metric(R"(spillway_retries_total{upstream="app",result="no_budget"})") == 0);
  }
  // One of them is passed by.
  MortalServer well;
  const ProxyUnderTest proxy(over({silent[0].address(), well.address()}, upstream));
  for (int n = 0; n < 4; ++n) CHECK(RawClient(proxy.port()).ask(post("/", "x")).status() == 200);
  CHECK(proxy.metric(R"(spillway_retries_total{upstream="app",result="sent"})") == 0);
}

TEST_CASE("a slow server gets less unless requests just take turns") {
  const auto share_of_slow = [](const char* balance) {
    MortalServer slow(100ms);
    std::array<MortalServer, 2> quick;
    const ProxyUnderTest proxy(
        over({quick[0].address(), slow.address(), quick[1].address()}, {{"balance", balance}}));
    CHECK(ask_from_many(proxy, 12, 300) == std::map<int, int>{{200, 300}});
    return static_cast<double>(slow.requests()) / 300;
  };
  CHECK(share_of_slow("least_inflight") < 0.2);
  CHECK(share_of_slow("power_of_two") < 0.2);
  // The control.
  CHECK(share_of_slow("round_robin") == doctest::Approx(1. / 3).epsilon(0.05));
}

TEST_CASE("a dead server is ejected and no client sees an error until it is back") {
  std::array<MortalServer, 3> servers;
  MortalServer& dead = servers[1];
  dead.die();
  const ProxyUnderTest proxy(
      over({servers[0].address(), dead.address(), servers[2].address()},
           {{"ejection", {{"consecutive_failures", 3}, {"base_ms", 200}, {"max_ms", 200}}}}));
  RawClient client(proxy.port());
  const auto ask = [&] { CHECK(client.ask(get("/")).status() == 200); };
  const auto ejections = [&] { return proxy.metric(sample("ejections_total", dead.address())); };
  const Deadline deadline;
  while (ejections() < 1 && !deadline.passed()) ask();
  const json state = proxy.state()["upstreams"][0]["servers"];
  CHECK(state[1]["name"] == dead.address());
  CHECK(state[1]["up"] == false);
  CHECK(state[1]["ejected_for_ms"] > 0);
  CHECK(state[1]["ejected_for_ms"] <= 200);
  CHECK(state[1]["health"].is_null());
  CHECK(state[0]["up"] == true);
  // It is asked again when its time is over, and left out again at its first failure.
  while (ejections() < 3 && !deadline.passed()) ask();
  CHECK(dead.requests() == 0);
  dead.revive();
  while (dead.requests() < 20 && !deadline.passed()) ask();
  CHECK(dead.requests() >= 20);
  CHECK(proxy.metric(sample("up", dead.address())) == 1);
  CHECK(ejections() >= 3);
}

TEST_CASE("a server that answers failures is left out and without ejection it is asked forever") {
  const auto asked = [](int failures) {
    MortalServer broken, sound;
    broken.answer_with(500);
    const ProxyUnderTest proxy(over({broken.address(), sound.address()},
                                    {{"ejection", {{"consecutive_failures", failures}}}}));
    RawClient client(proxy.port());
    for (int n = 0; n < 100; ++n) client.ask(get("/"));
    return broken.requests();
  };
  CHECK(asked(5) == 5);
  // The control.
  CHECK(asked(0) == 50);
}

TEST_CASE("clients that ask for what fails at every server eject none, and where one fails it is") {
  // Both answer 500 to whatever begins with /fail, the first also to /first.
  const auto answer = [](PeerConnection& proxy, bool is_first) {
    while (const auto request = proxy.read_request()) {
      const bool fails = request->target().starts_with("/fail") ||
                         (is_first && request->target().starts_with("/first"));
      if (!proxy.send(fails ? "HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n" : ok("well")))
        return;
    }
  };
  const ScriptedPeer first([&](PeerConnection& proxy) { answer(proxy, true); });
  const ScriptedPeer second([&](PeerConnection& proxy) { answer(proxy, false); });
  const ProxyUnderTest proxy(over({first.address(), second.address()}, json::object()));
  const auto ejections = [&] {
    return proxy.metric(sample("ejections_total", first.address())) +
           proxy.metric(sample("ejections_total", second.address()));
  };
  // One path, then a path for each request, then from many addresses one path.
  RawClient client(proxy.port());
  for (int n = 0; n < 100; ++n) CHECK(client.ask(get("/fail")).status() == 500);
  for (int n = 0; n < 100; ++n)
    CHECK(client.ask(get("/fail/" + std::to_string(n))).status() == 500);
  const auto from = [&](int n) {
    return RawClient(proxy.port(), 0, ("127.0.1." + std::to_string(n % 250 + 1)).c_str());
  };
  for (int n = 0; n < 50; ++n) CHECK(from(n).ask(get("/fail")).status() == 500);
  // From many addresses, each at a path of its own.
  for (int n = 0; n < 50; ++n)
    CHECK(from(100 + n).ask(get("/fail/" + std::to_string(1000 + n))).status() == 500);
  CHECK(ejections() == 0);
  CHECK(servers_down(proxy) == 0);
  // What one server alone fails at ejects it.
  for (int n = 0; n < 50 && ejections() == 0; ++n)
    from(150 + n).ask(get("/first/" + std::to_string(n)));
  CHECK(proxy.metric(sample("ejections_total", first.address())) == 1);
  CHECK(proxy.metric(sample("ejections_total", second.address())) == 0);
}

TEST_CASE("a client whose requests crash every server ejects none, and one that crashes alone is") {
  // Both close without a response to whatever begins with /crash, the first also to /first.
  const auto answer = [](PeerConnection& proxy, bool is_first) {
    while (const auto request = proxy.read_request()) {
      if (request->target().starts_with("/crash")) return;
      if (is_first && request->target().starts_with("/first")) return;
      if (!proxy.send(ok("well"))) return;
    }
  };
  const ScriptedPeer first([&](PeerConnection& proxy) { answer(proxy, true); });
  const ScriptedPeer second([&](PeerConnection& proxy) { answer(proxy, false); });
  const ProxyUnderTest proxy(over({first.address(), second.address()}, json::object()));
  const auto ejections = [&](const ScriptedPeer& server) {
    return proxy.metric(sample("ejections_total", server.address()));
  };
  RawClient client(proxy.port());
  for (int n = 0; n < 100; ++n) CHECK(client.ask(get("/crash")).status() == 502);
  for (int n = 0; n < 100; ++n)
    CHECK(client.ask(get("/crash/" + std::to_string(n))).status() == 502);
  CHECK(ejections(first) + ejections(second) == 0);
  for (int n = 0; n < 100 && ejections(first) == 0; ++n) {
    RawClient other(proxy.port(), 0, ("127.0.1." + std::to_string(n + 1)).c_str());
    other.ask(get("/first/" + std::to_string(n)));
  }
  CHECK(ejections(first) == 1);
  CHECK(ejections(second) == 0);
}

TEST_CASE("a server that hangs is ejected as soon where a gateway names none of its many clients") {
  // Of 24 requests at a path each. The other client is one: it may ask for what hangs.
  const auto timeouts = [](const json& trusted) {
    const ScriptedPeer hung([](PeerConnection& proxy) {
      while (proxy.read_request()) {
      }
    });
    MortalServer sound;
    json settings = over({hung.address(), sound.address()},
                         {{"balance", "round_robin"}, {"response_timeout_ms", 50}});
    settings["trusted_peers"] = trusted;
    const ProxyUnderTest proxy(settings);
    RawClient client(proxy.port());
    int timed_out = 0;
    for (int n = 0; n < 24; ++n)
      timed_out += client.ask(get("/user/" + std::to_string(n))).status() == 504 ? 1 : 0;
    return timed_out;
  };
  CHECK(timeouts(json::array({"127.0.0.1"})) == 5);
  CHECK(timeouts(json::array()) == 12);
}

TEST_CASE("no more servers than the share are ejected however many fail") {
  const RefusingPort first, second, third;
  MortalServer sound;
  const std::vector<std::string> all{first.address(), second.address(), third.address(),
                                     sound.address()};
  const ProxyUnderTest proxy(over(all, {{"ejection", {{"consecutive_failures", 2}}}}));
  CHECK(ask_from_many(proxy, 8, 400) == std::map<int, int>{{200, 400}});
  CHECK(sound.requests() == 400);
  CHECK(servers_down(proxy) == 2);
  CHECK(settles(proxy, all));
}

TEST_CASE("a single server is never ejected") {
  MortalServer server;
  server.answer_with(503);
  const ProxyUnderTest proxy(
      over({server.address()}, {{"ejection", {{"max_ejected_ratio", 0.9}}}}));
  RawClient client(proxy.port());
  for (int n = 0; n < 50; ++n) CHECK(client.ask(get("/")).status() == 503);
  CHECK(server.requests() == 50);
  CHECK(proxy.metric(sample("up", server.address())) == 1);
}

TEST_CASE("servers that are all ejected are asked all the same") {
  MortalServer first, second;
  first.answer_with(500);
  second.answer_with(500);
  const ProxyUnderTest proxy(
      over({first.address(), second.address()},
           {{"ejection", {{"consecutive_failures", 1}, {"max_ejected_ratio", 1}}}}));
  RawClient client(proxy.port());
  for (int n = 0; n < 50; ++n) CHECK(client.ask(get("/")).status() == 500);
  CHECK(first.requests() + second.requests() == 50);
  CHECK(servers_down(proxy) == 2);
  CHECK(proxy.admin("/readyz").status() == 503);
}

TEST_CASE("half of the servers die under load and nothing hangs or leaks") {
  std::array<MortalServer, 4> servers;
  std::vector<std::string> all;
  for (const MortalServer& server : servers) all.push_back(server.address());
  // A second attempt may fall into the other's death.
  const ProxyUnderTest proxy(over(all, {{"ejection", {{"consecutive_failures", 3}}},
                                        {"retries", {{"attempts", 3}, {"budget_ratio", 1}}}}));
  std::map<int, int> statuses;
  std::thread load([&] { statuses = ask_from_many(proxy, 32, 6000); });
  const Deadline deadline;
  while (servers[3].requests() < 400 && !deadline.passed()) std::this_thread::yield();
  servers[1].die();
  servers[2].die();
  load.join();
  int answered = 0;
  for (const auto& [status, count] : statuses) answered += count;
  CHECK(answered == 6000);
  // What the dead had in hand is asked again elsewhere.
  CHECK(statuses[200] == 6000);
  CHECK(servers_down(proxy) == 2);
  CHECK(settles(proxy, all));
  // A POST that was in no hand when they died fares no worse.
  RawClient client(proxy.port());
  for (int n = 0; n < 20; ++n) CHECK(client.ask(post("/", "")).status() == 200);
}

TEST_CASE("a want of descriptors is held against no server and passes") {
  MortalServer first, second;
  const std::vector<std::string> all{first.address(), second.address()};
  const json upstream = {{"idle_connections", 0},
                         {"ejection", {{"consecutive_failures", 1}}},
                         {"circuit_breaker", {{"consecutive_failures", 1}, {"open_ms", 30'000}}}};
  const ProxyUnderTest proxy(over(all, upstream));
  RawClient client(proxy.port());
  CHECK(client.ask(get("/")).status() == 200);
  CHECK(settles(proxy, all));

  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  // Whatever is opened takes the least number that is free.
  const int least_free = ::dup(0);
  REQUIRE(::close(least_free) == 0);
  const rlimit none{static_cast<rlim_t>(least_free), before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  std::vector<Message> answers;
  for (int n = 0; n < 10; ++n) answers.push_back(client.ask(post("/", "once")));
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  for (const Message& answer : answers) {
    CHECK(answer.status() == 503);
    CHECK(answer.field("Proxy-Status").value_or("").find("error=proxy_internal_error") !=
          std::string::npos);
    CHECK(answer.field("Retry-After") == "1");
  }

  CHECK(client.ask(get("/")).status() == 200);
  CHECK(proxy.metric_becomes(R"(spillway_local_shortages_total{upstream="app",kind="descriptors"})",
                             20));  // each tried both servers
  CHECK(servers_down(proxy) == 0);
  CHECK(proxy.state()["upstreams"][0]["open_circuits"] == 0);
  CHECK(proxy.admin("/readyz").status() == 200);
  CHECK(settles(proxy, all));
}

}  // namespace spillway::support
