// How long an abandoned request keeps its slot, whatever was learned before; and what its upstream
// sees of it.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"
#include "system/integration/workshop.hpp"

namespace spillway::support {
namespace {

constexpr int kSlots = 2;
// For so long a connection stays open behind a response whose client has left.
constexpr Milliseconds kStaysOpen{500};
// dispatch::kLeastPastLeaving, and some more.
constexpr Milliseconds kPastLeaving{2200};

// Takes its time over each request, and sees nothing of a client that leaves. Of /early it sends
// the head before the work, and nothing of it ends the connection. Of a POST it begins with the
// head.
struct BusyBackend {
  ScriptedPeer peer{[this](PeerConnection& proxy) {
    while (const auto request = proxy.read_head()) {
      if (request->field("Spillway-Degrade")) ++degraded;
      const bool is_early = request->target() == "/early";
      most_at_work = std::max<int>(most_at_work, ++at_work);
      const bool has_begun =
          !is_early ||
          proxy.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\n");
      const Event nothing;
      nothing.wait(Milliseconds{request->target() == "/dear" ? 250 : takes_ms.load()});
      --at_work;
      if (!has_begun || !proxy.send(is_early ? "done" : ok("done"))) return;
      if (request->method() == "POST") return;
      if (is_early) nothing.wait(kStaysOpen);
    }
  }};
  std::atomic<int> takes_ms{10};
  std::atomic<int> at_work{0};
  std::atomic<int> most_at_work{0};
  std::atomic<int> degraded{0};  // asked for less

  bool is_asked(std::size_t requests) const {
    return peer.wait_until([=](const auto& seen) { return seen.requests >= requests; });
  }
};

nlohmann::json few_slots() {
  return never_shed({{"workers", 1},
                     {"dispatch", {{"concurrency", kSlots}}},
                     {"classes", {{{"name", "P0"}, {"max_wait_ms", 10'000}, {"sla_ms", 20'000}}}},
                     {"overload", {{"rules", {{"P0", {{"strategy", "allow"}}}}}}}});
}

}  // namespace

TEST_CASE(
    "where every client leaves early the slots are held as long as the upstream works all the "
    "same") {
  BusyBackend backend;
  const ProxyUnderTest proxy(backend.peer.address(), few_slots());
  RawClient patient(proxy.port());
  std::size_t asked = 0;
  for (; asked < 30; ++asked) CHECK(patient.ask(get("/")).body == "done");
  backend.takes_ms = 250;  // from now on no client waits for its answer
  const auto leave = [&](int clients) {
    for (int n = 0; n < clients; ++n) {
      RawClient leaver(proxy.port());
      leaver.send(get("/"));
      CHECK(backend.is_asked(++asked));
    }
  };
  leave(12);  // what was learned is no longer true
  CHECK(backend.most_at_work <= kSlots);
}

TEST_CASE("thirty quick requests for each slow one that is abandoned do not free its slot early") {
  std::string lines;
  SUBCASE("whatever it asks for") {}
  SUBCASE("also if it may want an event stream") { lines = "Accept: text/event-stream\r\n"; }
  SUBCASE("also if it may want a tunnel") {
    lines = "Connection: upgrade\r\nUpgrade: websocket\r\n";
  }
  BusyBackend backend;
  backend.takes_ms = 1;
  const ProxyUnderTest proxy(backend.peer.address(), few_slots());
  RawClient patient(proxy.port());
  std::size_t asked = 0;
  const auto quick = [&](int requests) {
    for (int n = 0; n < requests; ++n) CHECK(patient.ask(get("/")).body == "done");
    asked += static_cast<std::size_t>(requests);
  };
  const auto leave = [&](int clients) {
    for (int n = 0; n < clients; ++n) {
      RawClient leaver(proxy.port());
      leaver.send(get("/dear", lines));
      CHECK(backend.is_asked(++asked));
      leaver.close();
      quick(30);
    }
  };
  quick(30);
  leave(12);
  CHECK(backend.most_at_work <= kSlots);
}

// The routes are quick as far as is known. From now on their requests take longer than these come,
// and each client leaves at once.
void come_and_leave(const ProxyUnderTest& proxy, BusyBackend& backend,
                    const std::vector<std::string>& paths,
                    const std::vector<std::string>& requests) {
  RawClient patient(proxy.port());
  backend.takes_ms = 1;
  for (const std::string& path : paths)
    for (int n = 0; n < 30; ++n) CHECK(patient.ask(get(path)).body == "done");
  backend.takes_ms = 8'000;
  const Deadline while_they_come(3 * kPastLeaving);
  for (std::size_t n = 0; !while_they_come.passed(); ++n) {
    RawClient leaver(proxy.port());
    leaver.send(requests[n % requests.size()]);
    leaver.has_bytes(20ms);
  }
  CHECK(backend.most_at_work.load() > kSlots);  // else this tests nothing
  CHECK(backend.most_at_work.load() <= 2 * kSlots);
}

// So that the slots of the first are given back after two seconds, and those of the next ones would
// be too.
TEST_CASE("long requests that are abandoned on several routes put no more than twice to work") {
  const std::vector<std::string> paths{"/one", "/two", "/three", "/four"};
  nlohmann::json settings = few_slots();
  for (const std::string& path : paths) {
    settings["routes"].push_back(
        {{"name", path.substr(1)}, {"match", {{"path", path}}}, {"class", "P0"}});
  }
  BusyBackend backend;
  const ProxyUnderTest proxy(backend.peer.address(), settings);
  std::vector<std::string> requests;
  for (const std::string& path : paths) requests.push_back(get(path));
  come_and_leave(proxy, backend, paths, requests);
}

TEST_CASE("unfinished uploads and degraded requests that are abandoned keep to twice the slots") {
  BusyBackend backend;
  nlohmann::json settings = few_slots();
  SUBCASE("since they do not come to their end") {
    settings["default_route"]["request_buffering"] = "off";
    const ProxyUnderTest proxy(backend.peer.address(), settings);
    const std::string begun =
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n" +
        std::string(70'000, 'x');
    come_and_leave(proxy, backend, {"/"}, {begun});
  }
  SUBCASE("since the upstream is asked to do less") {
    settings["overload"] = {
        {"regulate", false},
        {"tick_ms", 20},
        {"cooldown_ms", 60'000},
        {"enter", {{"inflight_ratio", 0.5}}},
        {"exit", {{"inflight_ratio", 0.1}}},
        {"rules", {{"P0", {{"strategy", "degrade"}, {"mode", "skip_downstream"}}}}}};
    const ProxyUnderTest proxy(backend.peer.address(), settings);
    come_and_leave(proxy, backend, {"/"}, {get("/")});
    CHECK(backend.degraded.load() >= kSlots);
  }
}

TEST_CASE("a slot is held until the response is complete, however early its head came") {
  BusyBackend backend;
  backend.takes_ms = 40;
  const ProxyUnderTest proxy(backend.peer.address(), few_slots());
  std::size_t asked = 0;
  for (; asked < 25; ++asked) {
    RawClient patient(proxy.port());
    CHECK(patient.ask(get("/early")).body == "done");
  }
  const auto leave = [&](int clients) {
    for (int n = 0; n < clients; ++n) {
      RawClient leaver(proxy.port());
      leaver.send(get("/early"));
      CHECK(leaver.read_head().status() == 200);
      ++asked;
    }
  };
  leave(10);
  backend.most_at_work = 0;
  const TimePoint began = Clock::now();
  leave(30);
  CHECK(backend.most_at_work <= kSlots);
  // The connections stay open behind the responses: no slot waits for that.
  CHECK(Clock::now() - began < 30 * kStaysOpen / kSlots / 2);
}

TEST_CASE("abandoned requests keep their slots over reloads, also of another number of slots") {
  Workshop shop;
  const auto with = [&](int slots) {
    nlohmann::json settings = configuration({shop.peer.address()}, with_so_few_slots(slots));
    settings["limits"]["drain_timeout_ms"] = 30'000;  // the default: what was begun may go on
    return settings;
  };
  ProxyUnderTest proxy(with(4));
  const auto leave = [&](std::size_t asked) {
    RawClient leaver(proxy.port());
    leaver.send(get("/"));
    CHECK(shop.is_asked(asked));
  };
  for (std::size_t n = 1; n <= 4; ++n) leave(n);
  CHECK(proxy.metric_becomes("spillway_abandoned_requests", 4));
  std::vector<RawClient> waiting;
  const auto join = [&] {  // each configuration counts those that came to it
    waiting.emplace_back(proxy.port()).send(get("/"));
    CHECK(proxy.metric_becomes(R"(spillway_queue_depth{upstream="app",class="P0"})", 1));
  };
  join();
  CHECK(proxy.reload(with(4)).status() == 200);
  join();
  CHECK(shop.peer.seen().requests == 4);
  CHECK(proxy.reload(with(5)).status() == 200);
  leave(5);
  CHECK(proxy.reload(with(4)).status() == 200);
  join();
  CHECK(shop.most_at_work() == 5);
  shop.go.set();
  for (RawClient& one : waiting) CHECK(one.read_response().body == "done");
  CHECK(shop.most_at_work() == 5);
  CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
}

TEST_CASE("the upstream of an abandoned request sees the end of the stream and no reset") {
  std::atomic<bool> saw_end{false}, was_taken{false};
  Event over;
  const ScriptedPeer peer([&](PeerConnection& proxy) {
    if (!proxy.read_request()) return;
    // As a server sees a client that has shut down its side: no more bytes, and room to write.
    saw_end = proxy.wait_closed() && !proxy.was_reset();
    was_taken = proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 102400\r\n\r\n") &&
                proxy.send(std::string(51'200, 'x')) && proxy.wait_taken() &&
                proxy.send(std::string(51'200, 'y')) && proxy.wait_taken();
    over.set();
  });
  const ProxyUnderTest proxy(peer.address(), few_slots());
  RawClient leaver(proxy.port());
  leaver.send(get("/"));
  CHECK(peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  leaver.close();
  CHECK(over.wait());
  CHECK(saw_end);
  CHECK(was_taken);
  // The upstream has closed its side, too: the slot is free.
  CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
}

TEST_CASE("an upstream that goes on answering an abandoned request is cut off") {
  std::atomic<bool> was_cut{false};
  Event over;
  const ScriptedPeer peer([&](PeerConnection& proxy) {
    if (!proxy.read_request() || !proxy.wait_closed()) return;
    const std::string block(64 * 1024, 'x');
    bool goes_on = proxy.send("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n");
    for (int n = 0; goes_on && n < 16 * 1024; ++n) goes_on = proxy.send(block);
    was_cut = !goes_on;
    over.set();
  });
  const ProxyUnderTest proxy(peer.address(), few_slots());
  RawClient leaver(proxy.port());
  leaver.send(get("/"));
  CHECK(peer.wait_until([](const auto& seen) { return seen.requests == 1; }));
  leaver.close();
  CHECK(over.wait());
  CHECK(was_cut);
}

TEST_CASE("P0 gets slots beside requests of P2 that were abandoned and take long") {
  constexpr int kConcurrency = 16;
  Event go;
  std::atomic<int> long_ones{0}, most{0};
  ScriptedPeer peer([&](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      if (request->target().starts_with("/export")) {
        most = std::max<int>(most, ++long_ones);
        if (!proxy.wait(go)) return;
        --long_ones;
      }
      if (!proxy.send(ok("done"))) return;
    }
  });
  const ProxyUnderTest proxy(
      peer.address(),
      {{"workers", 1},
       {"dispatch", {{"concurrency", kConcurrency}}},
       {"routes",
        {{{"name", "export"}, {"match", {{"path", "/export/**"}}}, {"class", "P2"}},
         {{"name", "checkout"}, {"match", {{"path", "/checkout/**"}}}, {"class", "P0"}}}}});
  std::vector<RawClient> leavers;
  for (int n = 0; n < kConcurrency; ++n)
    leavers.emplace_back(proxy.port()).send(get("/export/" + std::to_string(n)));
  CHECK(peer.wait_until([](const auto& seen) { return seen.requests == kConcurrency; }));
  leavers.clear();
  CHECK(proxy.metric_becomes("spillway_abandoned_requests", kConcurrency));
  for (int n = 0; n < 10; ++n)
    CHECK(RawClient(proxy.port()).ask(get("/checkout/pay")).status() == 200);
  CHECK(proxy.metric("spillway_abandoned_requests") < kConcurrency);
  CHECK(RawClient(proxy.port()).ask(get("/export/new")).status() == 503);  // it is P0's slot
  CHECK(most == kConcurrency);
  go.set();
  CHECK(proxy.metric_becomes("spillway_abandoned_requests", 0));
  CHECK(RawClient(proxy.port()).ask(get("/export/new")).status() == 200);
}

TEST_CASE("P0 gets slots beside requests of P2 that timed out and go on") {
  constexpr int kConcurrency = 16;
  ScriptedPeer peer([](PeerConnection& proxy) {
    while (const auto request = proxy.read_request()) {
      const Event never;
      if (request->target().starts_with("/export") && !proxy.wait(never)) return;
      if (!proxy.send(ok("done"))) return;
    }
  });
  const ProxyUnderTest proxy(
      peer.address(),
      {{"workers", 1},
       {"dispatch", {{"concurrency", kConcurrency}}},
       {"app", {{"response_timeout_ms", 300}, {"circuit_breaker", nullptr}}},
       {"routes",
        {{{"name", "export"}, {"match", {{"path", "/export/**"}}}, {"class", "P2"}},
         {{"name", "checkout"}, {"match", {{"path", "/checkout/**"}}}, {"class", "P0"}}}}});
  std::vector<RawClient> clients;
  for (int n = 0; n < kConcurrency; ++n)
    clients.emplace_back(proxy.port()).send(get("/export/" + std::to_string(n)));
  for (RawClient& each : clients) CHECK(each.read_response().status() == 504);
  for (int n = 0; n < 3; ++n)
    CHECK(RawClient(proxy.port()).ask(get("/checkout/pay")).status() == 200);
}

}  // namespace spillway::support
