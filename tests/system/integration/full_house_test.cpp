// A house full of clients that are silent elsewhere than between requests or at a head
// (connections_test.cpp has these): behind their answer, in the body of a request, before an answer
// that they do not take. They hold no slot, and give way to new clients; those that hold one, or
// that send, do not. Of clients that ask again and again as many are let go as others come.
#include <doctest/doctest.h>

#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/counting_backend.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

namespace spillway {
namespace {

using namespace support;
using nlohmann::json;

constexpr int kMost = 12;
constexpr Milliseconds kQuiet{200};
// By then a place was made, even on a busy machine.
constexpr Milliseconds kAPlaceWasMade{6000};
const std::string kHost = " HTTP/1.1\r\nHost: localhost\r\n";
// Answered at once, and its body is not waited for.
const std::string kAnswered =
    "OPTIONS *" + kHost + "Max-Forwards: 0\r\nContent-Length: 60000\r\n\r\n";
// Its body is read before it gets a slot.
const std::string kBodyOfOne = "POST /x" + kHost + "Content-Length: 1\r\n\r\n";

// No limit of time or rate ends silence.
json house(json limits = json::object()) {
  json all{{"connections", kMost}, {"min_rate_bytes", 0}};
  all.merge_patch(limits);
  return never_shed({{"limits", all}});
}

json house_of_one_worker() {
  json all = house();
  all["workers"] = 1;
  return all;
}

// A newcomer is let in before long.
bool lets_in(const ProxyUnderTest& proxy) {
  RawClient newcomer(proxy.port());
  newcomer.send("BAD\r\n\r\n");  // answered at once
  return newcomer.has_bytes(kAPlaceWasMade) && newcomer.read_response().status() == 400;
}

// How many of them have been let go.
int ended(std::deque<RawClient>& clients) {
  int count = 0;
  for (RawClient& one : clients) count += one.has_bytes(0ms) || one.is_closed(0ms) ? 1 : 0;
  return count;
}

const std::string kOwn = "OPTIONS *" + kHost + "Max-Forwards: 0\r\n\r\n";

// Clients that have been answered hold all places.
std::list<RawClient> filled(const ProxyUnderTest& proxy) {
  std::list<RawClient> asking;
  for (int n = 0; n < kMost; ++n)
    CHECK(asking.emplace_back(proxy.port()).ask(kOwn).status() == 200);
  return asking;
}

// Each asks again and again until then, and is answered each time. Those that are let go with their
// answer leave.
void ask_on(std::list<RawClient>& clients, const std::vector<std::string>& requests,
            const std::function<bool()>& is_enough) {
  std::string bytes;
  for (const std::string& request : requests) bytes += request;
  while (!is_enough()) {
    for (auto one = clients.begin(); one != clients.end();) {
      one->send(bytes);
      bool is_let_go = false;
      for (std::size_t n = 0; n < requests.size(); ++n) {
        CHECK_FALSE(is_let_go);  // a request behind is lost
        const Message answer = one->read_response();
        CHECK(answer.status() == 200);
        is_let_go = answer.field("Connection") == "close";
      }
      if (is_let_go) CHECK(one->is_closed());
      is_let_go ? one = clients.erase(one) : ++one;
    }
  }
}

}  // namespace

TEST_CASE("a pool of connections as large as the house is left alone until someone comes") {
  CountingBackend backend({});
  const ProxyUnderTest proxy(backend.address(), house());
  std::deque<RawClient> pool;
  for (int n = 0; n < kMost; ++n)
    CHECK(pool.emplace_back(proxy.port()).ask(get("/")).status() == 200);
  CHECK_FALSE(pool[0].is_closed(2500ms));
  CHECK(ended(pool) == 0);
  CHECK(proxy.metric(R"(spillway_accept_pauses_total{reason="connections"})") == 0);
  CHECK(lets_in(proxy));
  CHECK(ended(pool) == 1);
  CHECK(proxy.metric(R"(spillway_accept_pauses_total{reason="connections"})") == 1);
}

TEST_CASE("in a full house of clients that ask again and again one leaves for each that comes") {
  CountingBackend backend({});
  const ProxyUnderTest proxy(backend.address(), house());
  const std::string relayed = get("/");
  std::vector<std::string> requests;
  SUBCASE("relayed") { requests = {relayed}; }
  SUBCASE("our own") { requests = {kOwn}; }
  SUBCASE("pipelined") { requests = {relayed, kOwn, relayed}; }
  CAPTURE(requests.size());
  std::list<RawClient> asking = filled(proxy);
  std::deque<RawClient> newcomers;
  for (int come = 1; come <= 3; ++come) {
    newcomers.emplace_back(proxy.port()).send(relayed);
    const Deadline soon(kAPlaceWasMade);
    ask_on(asking, requests, [&] { return newcomers.back().has_bytes(0ms) || soon.passed(); });
    CHECK(newcomers.back().read_response().status() == 200);
    CHECK(asking.size() <= kMost - static_cast<std::size_t>(come));
    CHECK(asking.size() + 1 >= kMost - static_cast<std::size_t>(come));  // one may be slow to leave
  }
}

TEST_CASE("in a full house clients that always have another request under way take turns, too") {
  CountingBackend backend({});
  const ProxyUnderTest proxy(backend.address(), house());
  std::string request = get("/");
  SUBCASE("relayed") {}
  SUBCASE("our own") { request = kOwn; }
  // Behind each request the next one has begun.
  const std::string next_begun = request.substr(5) + request.substr(0, 5);
  std::list<RawClient> pipelining;
  for (int n = 0; n < kMost; ++n)
    CHECK(pipelining.emplace_back(proxy.port()).ask(request + request.substr(0, 5)).status() ==
          200);
  RawClient newcomer(proxy.port());
  newcomer.send(get("/"));
  const Deadline soon(kAPlaceWasMade);
  while (!newcomer.has_bytes(0ms) && !soon.passed()) {
    for (auto one = pipelining.begin(); one != pipelining.end();) {
      const Message answer = one->ask(next_begun);
      CHECK(answer.status() == 200);
      const bool is_let_go = answer.field("Connection") == "close";
      if (is_let_go) {
        CHECK(one->is_closed());
        CHECK_FALSE(one->was_reset());
      }
      is_let_go ? one = pipelining.erase(one) : ++one;
    }
  }
  CHECK(newcomer.has_bytes(0ms));  // not only since they are silent now
  CHECK(newcomer.read_response().status() == 200);
  CHECK(pipelining.size() >= kMost - 3);
}

TEST_CASE("in a full house a response is not lost by a request that came behind it") {
  CountingBackend backend({.service = 50ms});
  const ProxyUnderTest proxy(backend.address(), house({{"connections", 1}}));
  RawClient pipelining(proxy.port());
  CHECK(pipelining.ask(kOwn).status() == 200);
  RawClient newcomer(proxy.port()), another(proxy.port());
  newcomer.send(get("/"));
  pipelining.send(get("/"));
  const Deadline soon(kAPlaceWasMade);
  bool is_let_go = false;
  for (std::uint64_t asked = 1; !is_let_go && !soon.passed(); ++asked) {
    while (backend.seen().requests < asked && !soon.passed()) std::this_thread::yield();
    pipelining.send(get("/"));  // is not read while the other one is under way
    const Message answer = pipelining.read_response();
    CHECK(answer.status() == 200);
    is_let_go = answer.field("Connection") == "close";
  }
  CHECK(is_let_go);
  CHECK(pipelining.is_closed());
  CHECK_FALSE(pipelining.was_reset());
  CHECK_FALSE(newcomer.has_bytes(kQuiet));  // it lingers, although more wait
  pipelining.close();
  CHECK(newcomer.read_response().status() == 200);
}

TEST_CASE("in a full house those that never ask take no more places than a burst") {
  constexpr std::size_t kBurst = 4;
  CountingBackend backend({});
  const ProxyUnderTest proxy(backend.address(), house_of_one_worker());
  std::list<RawClient> asking = filled(proxy);
  std::deque<RawClient> silent;
  for (int n = 0; n < 2 * kMost; ++n) silent.emplace_back(proxy.port());
  const Deadline while_they_come(4s);
  ask_on(asking, {kOwn}, [&] { return while_they_come.passed(); });
  CHECK(ended(silent) >= 2);  // a second each
  CHECK(asking.size() >= kMost - kBurst);
}

TEST_CASE("in a full house those that ask a slow route take no more places than a burst") {
  constexpr std::size_t kBurst = 4;
  CountingBackend backend({.service = 6s});
  const ProxyUnderTest proxy(backend.address(), house_of_one_worker());
  std::list<RawClient> asking = filled(proxy);
  std::deque<RawClient> slow;
  for (int n = 0; n < 2 * kMost; ++n) slow.emplace_back(proxy.port()).send(get("/"));
  const Deadline while_they_wait(3s);
  ask_on(asking, {kOwn}, [&] { return while_they_wait.passed(); });
  CHECK(proxy.metric(R"(spillway_inflight{upstream="app"})") >= 1);  // there were slots for more
  CHECK(asking.size() >= kMost - kBurst);
}

TEST_CASE("in a full house those give way that have their answer and do not send the rest") {
  CountingBackend backend({.service = 3s});
  const ProxyUnderTest proxy(backend.address(), house());
  std::deque<RawClient> busy, answered;
  for (int n = 0; n < 2; ++n) busy.emplace_back(proxy.port()).send(get("/"));
  for (int n = 2; n < kMost; ++n)
    CHECK(answered.emplace_back(proxy.port()).ask(kAnswered).status() == 200);
  CHECK(lets_in(proxy));
  CHECK(ended(answered) <= 3);  // no more than there is need for
  for (RawClient& one : busy) CHECK(one.read_response().status() == 200);
}

TEST_CASE("in a full house those give way that wait for the answers of their jobs") {
  CountingBackend backend({.service = 10s});
  json settings = house();
  settings.merge_patch(
      {{"store", {{"url", "memory:"}}},
       {"routes",
        {{{"name", "all"}, {"match", {{"path", "/**"}}}, {"defer", {{"when", "prefer"}}}}}}});
  const ProxyUnderTest proxy(backend.address(), settings);
  std::deque<RawClient> waiting;
  for (int n = 0; n < kMost; ++n)
    waiting.emplace_back(proxy.port())
        .send("POST /x" + kHost + "Prefer: respond-async, wait=60\r\nContent-Length: 0\r\n\r\n");
  CHECK(lets_in(proxy));
  const int let_go = ended(waiting);
  CHECK(let_go >= 1);
  CHECK(let_go <= 3);  // the others go on waiting
  for (RawClient& one : waiting)
    if (one.has_bytes(0ms)) CHECK(one.read_response().status() == 202);
}

TEST_CASE("in a full house those give way whose bodies do not come") {
  CountingBackend backend({.service = 3s});
  const ProxyUnderTest proxy(backend.address(), house());
  std::string bytes = kBodyOfOne;
  bool is_told = false;
  SUBCASE("not a byte") {}
  SUBCASE("told to go on") {
    bytes = "POST /x" + kHost + "Content-Length: 1\r\nExpect: 100-continue\r\n\r\n";
    is_told = true;
  }
  SUBCASE("no end") { bytes = "POST /x" + kHost + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"; }
  SUBCASE("a large one") {
    bytes = "POST /x" + kHost + "Content-Length: 1000000\r\n\r\n" + std::string(100'000, 'x');
  }
  std::deque<RawClient> busy, silent;
  for (int n = 0; n < 2; ++n) busy.emplace_back(proxy.port()).send(get("/"));
  for (int n = 2; n < kMost; ++n) {
    silent.emplace_back(proxy.port()).send(bytes);
    if (is_told) CHECK(silent.back().read_head().status() == 100);
  }
  CHECK(proxy.metric_becomes(R"(spillway_connections{side="client"})", kMost));
  CHECK(lets_in(proxy));
  const int let_go = ended(silent);
  CHECK(let_go >= 1);
  CHECK(let_go <= 3);
  for (RawClient& one : busy) CHECK(one.read_response().status() == 200);
}

TEST_CASE("in a full house a body that comes does not give way, a drop of it now and then does") {
  ScriptedPeer backend(ok("hi"));
  const ProxyUnderTest proxy(backend.address(), house({{"min_rate_bytes", 240}}));
  const std::string large = "POST /x" + kHost + "Content-Length: 20000\r\n\r\n";
  std::deque<RawClient> dripping, sending;
  for (int n = 0; n < kMost / 2; ++n) {
    sending.emplace_back(proxy.port()).send(large);
    dripping.emplace_back(proxy.port()).send(large);
  }
  RawClient newcomer(proxy.port());
  newcomer.send("BAD\r\n\r\n");
  int sent = 0;
  const Deadline grace(4s);  // limits.min_rate_bytes would cut them off later
  while (!newcomer.has_bytes(100ms) && !grace.passed()) {
    for (RawClient& one : sending) one.send(std::string(300, 'x'));
    sent += 300;
    for (RawClient& one : dripping) one.try_send("x");
  }
  CHECK(newcomer.has_bytes(0ms));
  CHECK(ended(dripping) >= 1);
  for (RawClient& one : sending)
    CHECK(one.ask(std::string(static_cast<std::size_t>(20'000 - sent), 'x')).status() == 200);
}

TEST_CASE("in a full house a body whose request holds a slot does not give way") {
  ScriptedPeer peer([](PeerConnection& proxy) { proxy.read_request(); });
  const ProxyUnderTest proxy(
      peer.address(), streamed({{"limits", {{"connections", kMost}, {"min_rate_bytes", 0}}}}));
  std::deque<RawClient> uploading;
  for (int n = 0; n < kMost; ++n)
    uploading.emplace_back(proxy.port())
        .send("POST /x" + kHost + "Content-Length: 100000\r\n\r\n" + std::string(70'000, 'x'));
  CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", kMost));
  RawClient newcomer(proxy.port());
  CHECK_FALSE(newcomer.send("BAD\r\n\r\n").has_bytes(2500ms));
  CHECK(ended(uploading) == 0);
}

TEST_CASE("silence behind an answer and in a body is left alone while there is room") {
  ScriptedPeer backend(ok("hi"));
  const ProxyUnderTest proxy(backend.address(), house());
  std::deque<RawClient> answered, silent;
  for (int n = 0; n < kMost / 2 - 1; ++n) {
    CHECK(answered.emplace_back(proxy.port()).ask(kAnswered).status() == 200);
    silent.emplace_back(proxy.port()).send(kBodyOfOne);
  }
  CHECK_FALSE(answered[0].has_bytes(1500ms));
  CHECK(ended(answered) + ended(silent) == 0);
  for (RawClient& one : answered)
    CHECK(one.ask(std::string(60'000, 'x') + get("/")).status() == 200);
  for (RawClient& one : silent) CHECK(one.ask("x").status() == 200);
}

TEST_CASE("a client that has its answer is not waited for longer than five seconds at a time") {
  CountingBackend backend({});
  const ProxyUnderTest proxy(backend.address(), house());
  RawClient client(proxy.port());
  const auto begin = std::chrono::steady_clock::now();
  CHECK(client.ask(kAnswered).status() == 200);
  CHECK(client.is_closed());
  CHECK(std::chrono::steady_clock::now() - begin >= 4900ms);
}

TEST_CASE("in a full house those give way that take nothing of an answer without a slot") {
  ScriptedPeer peer(ok(pattern(12'000'000)));
  const ProxyUnderTest proxy(peer.address(), house({{"connections", 4}}));
  std::deque<RawClient> taking_nothing;
  for (int n = 0; n < 4; ++n) taking_nothing.emplace_back(proxy.port(), 4096).send(get("/"));
  CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
  RawClient newcomer(proxy.port());
  newcomer.send("BAD\r\n\r\n");
  CHECK_FALSE(newcomer.has_bytes(1500ms));  // a network may stall for so long
  CHECK(newcomer.has_bytes(kPatience));
}

}  // namespace spillway
