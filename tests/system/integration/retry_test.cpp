// What is sent again, what is not, and how often at most.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"
#include "support/scripted_peer.hpp"
#include "system/integration/wire.hpp"

using namespace spillway::support;
using nlohmann::json;

namespace {

std::string retries(std::string_view result) {
  return "spillway_retries_total{upstream=\"app\",result=\"" + std::string(result) + "\"}";
}

// As often as it takes, at once and without a budget worth the name.
json eager(int attempts = 10) {
  return {{"attempts", attempts}, {"budget_ratio", 10}, {"backoff_ms", 0}, {"max_backoff_ms", 0}};
}

json with_retries(const json& settings, json app = json::object()) {
  app["retries"] = settings;
  return never_shed({{"app", app}});
}

// Breaks the first `times` connections after their request and answers on the others.
ScriptedPeer::Script breaks(std::size_t times, bool reset) {
  return [=](PeerConnection& proxy) {
    while (proxy.read_request()) {
      if (proxy.number() < times) {
        if (reset) proxy.reset();
        return;
      }
      if (!proxy.send(ok("answer"))) return;
    }
  };
}

// How often `needle` was received, over all connections.
std::size_t received(const ScriptedPeer& peer, std::string_view needle) {
  std::size_t found = 0;
  for (const std::string& bytes : peer.seen().received) {
    for (std::size_t at = 0; (at = bytes.find(needle, at)) != std::string::npos; ++at) ++found;
  }
  return found;
}

// Refuses connections until it is told to listen, and then answers one request.
class LateServer {
 public:
  LateServer() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    REQUIRE(::bind(socket_, reinterpret_cast<sockaddr*>(&here), size) == 0);
    REQUIRE(::getsockname(socket_, reinterpret_cast<sockaddr*>(&here), &size) == 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(here.sin_port));
  }
  ~LateServer() { ::close(socket_); }
  LateServer(const LateServer&) = delete;
  LateServer& operator=(const LateServer&) = delete;

  const std::string& address() const { return address_; }

  // The bytes of the one request.
  std::string serve() {
    REQUIRE(::listen(socket_, 1) == 0);
    REQUIRE(wait_ready(socket_, POLLIN, Deadline()));
    const int connection = ::accept(socket_, nullptr, nullptr);
    std::string bytes(4096, '\0');
    REQUIRE(wait_ready(connection, POLLIN, Deadline()));
    const ssize_t got = ::recv(connection, bytes.data(), bytes.size(), 0);
    const std::string answer = ok("late");
    CHECK(::send(connection, answer.data(), answer.size(), 0) > 0);
    ::close(connection);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }

 private:
  int socket_;
  std::string address_;
};

}  // namespace

TEST_CASE("a GET whose connection breaks before a byte of an answer is sent once more") {
  for (const bool reset : {false, true}) {
    ScriptedPeer peer(breaks(1, reset));
    const ProxyUnderTest proxy(peer.address(), never_shed());
    RawClient client(proxy.port());
    CHECK(client.ask(get("/")).body == "answer");
    CHECK(peer.seen().requests == 2);
    CHECK(proxy.metric(retries("sent")) == 1);
    CHECK(proxy.metric(retries("success")) == 1);
    CHECK(proxy.metric(retries("no_budget")) == 0);
  }
}

TEST_CASE("a request with a small body is sent again whole and with the same names") {
  ScriptedPeer peer(breaks(1, true));
  const ProxyUnderTest proxy(peer.address(), never_shed());
  RawClient client(proxy.port());
  CHECK(client.ask("PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody").body == "answer");
  const auto seen = peer.seen();
  REQUIRE(seen.received.size() == 2);
  // X-Request-Id and traceparent are those of the request, not of the attempt.
  CHECK(seen.received[0] == seen.received[1]);
  CHECK(seen.received[1].ends_with("\r\n\r\nbody"));
}

TEST_CASE("there are as many attempts as the configuration says") {
  for (const int attempts : {0, 1, 3}) {
    CAPTURE(attempts);
    ScriptedPeer peer(breaks(100, true));
    const ProxyUnderTest proxy(peer.address(), with_retries(eager(attempts)));
    RawClient client(proxy.port());
    CHECK(client.ask(get("/")).status() == 502);
    CHECK(peer.seen().requests == static_cast<std::size_t>(1 + attempts));
    CHECK(proxy.metric(retries("sent")) == attempts);
    CHECK(proxy.metric(retries("success")) == 0);
    CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
  }
}

TEST_CASE("a GET reaches backends three times at most and a POST once") {
  // Keeps the first connection, and breaks whatever comes after the first answer.
  const auto sent = [](const std::string& request, const char* needle) {
    ScriptedPeer peer([](PeerConnection& proxy) {
      if (!proxy.read_request()) return;
      if (proxy.number() == 0 && (!proxy.send(ok("first")) || !proxy.read_request())) return;
      proxy.reset();
    });
    const ProxyUnderTest proxy(peer.address(), never_shed({{"workers", 1}}));
    RawClient client(proxy.port());
    CHECK(client.ask(get("/first")).body == "first");
    CHECK(client.ask(request).status() == 502);
    return received(peer, needle);
  };
  // The kept connection, the one that replaces it for free, and one retry.
  CHECK(sent(get("/again"), "GET /again") == 3);
  CHECK(sent(post("/once", "x"), "POST /once") == 1);
}

TEST_CASE("passing by a server that refuses is no retry and needs no budget") {
  const RefusingPort refusing;
  ScriptedPeer well(breaks(0, false));
  json app = {{"ejection", {{"consecutive_failures", 0}}}, {"balance", "round_robin"}};
  const ProxyUnderTest proxy(
      configuration({refusing.address(), well.address()},
                    with_retries({{"attempts", 0}, {"budget_per_second", 0}}, app)));
  for (int i = 0; i < 20; ++i) CHECK(RawClient(proxy.port()).ask(post("/", "x")).status() == 200);
  for (const char* result : {"sent", "no_budget", "stale"})
    CHECK(proxy.metric(retries(result)) == 0);
}

TEST_CASE("a retry goes to the other server") {
  ScriptedPeer broken(breaks(1000, true));
  ScriptedPeer well(breaks(0, false));
  json settings = eager(1);
  // Long enough to fail the test, were there a pause.
  settings["backoff_ms"] = settings["max_backoff_ms"] = 60'000;
  const ProxyUnderTest proxy(
      configuration({broken.address(), well.address()}, with_retries(settings)));
  for (int i = 0; i < 20; ++i) CHECK(RawClient(proxy.port()).ask(get("/")).body == "answer");
}

TEST_CASE("a server that has failed is not asked again before a pause") {
  ScriptedPeer peer(breaks(1, true));
  const ProxyUnderTest proxy(
      peer.address(),
      with_retries({{"attempts", 1}, {"backoff_ms", 400}, {"max_backoff_ms", 400}}));
  RawClient client(proxy.port());
  client.send(get("/"));
  CHECK_FALSE(client.has_bytes(Milliseconds(150)));  // 200 ms at least, with jitter
  CHECK(client.read_response().body == "answer");
}

TEST_CASE("a client that leaves in a pause costs the upstream nothing more") {
  ScriptedPeer peer(breaks(1, true));
  const ProxyUnderTest proxy(
      peer.address(),
      with_retries({{"attempts", 1}, {"backoff_ms", 3'600'000}, {"max_backoff_ms", 3'600'000}}));
  RawClient client(proxy.port());
  client.send(get("/"));
  REQUIRE(peer.wait_until([](const auto& seen) { return seen.requests == 1 && seen.open == 0; }));
  client.close();
  CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0, kSoon * 5));
  CHECK(peer.seen().requests == 1);
  CHECK(proxy.metric(retries("sent")) == 0);
}

TEST_CASE("no retry pauses beyond the deadline") {
  ScriptedPeer peer(breaks(100, true));
  json settings =
      with_retries({{"attempts", 1}, {"backoff_ms", 3'600'000}, {"max_backoff_ms", 3'600'000}});
  settings["default_route"]["deadline_ms"] = 60'000;
  const ProxyUnderTest proxy(peer.address(), settings);
  CHECK(RawClient(proxy.port()).ask(get("/")).status() == 502);  // at once
}

TEST_CASE("a connection that was refused is tried again for any method") {
  LateServer server;
  const ProxyUnderTest proxy(server.address(), with_retries({{"attempts", 10},
                                                             {"budget_per_second", 1000},
                                                             {"backoff_ms", 50},
                                                             {"max_backoff_ms", 50}}));
  RawClient client(proxy.port());
  client.send(post("/", "once"));
  while (proxy.metric(retries("sent")) < 1) std::this_thread::yield();
  CHECK(server.serve().ends_with("once"));
  CHECK(client.read_response().body == "late");
}

TEST_CASE("an upstream that is too slow is not asked again") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    if (proxy.read_request()) proxy.wait_closed();
  });
  const ProxyUnderTest proxy(peer.address(), with_retries(eager(), {{"response_timeout_ms", 100}}));
  CHECK(RawClient(proxy.port()).ask(get("/")).status() == 504);
  CHECK(peer.seen().requests == 1);
}

TEST_CASE("nothing is sent again after a byte of an answer") {
  for (const char* bytes : {"H", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\n", "junk"}) {
    CAPTURE(bytes);
    ScriptedPeer peer([&](PeerConnection& proxy) {
      if (proxy.read_request()) proxy.send(bytes);
    });
    const ProxyUnderTest proxy(peer.address(), with_retries(eager()));
    RawClient client(proxy.port());
    client.send(get("/"));
    Message answer = client.read_response();
    if (answer.status() == 100) answer = client.read_response();
    CHECK(answer.status() == 502);
    CHECK(peer.seen().requests == 1);
  }
}

// Each way in which a server can break a request, with a body to read or not to read.
TEST_CASE("a POST reaches the backend at most once however it breaks") {
  struct Way {
    const char* name;
    ScriptedPeer::Script script;
  };
  const auto closing = [](PeerConnection& proxy) { proxy.read_request(); };
  const std::vector<Way> ways = {
      {"closes at once", [](PeerConnection&) {}},
      {"resets at once", [](PeerConnection& proxy) { proxy.reset(); }},
      {"closes after the head", [](PeerConnection& proxy) { proxy.read_head(); }},
      {"resets after the head",
       [](PeerConnection& proxy) {
         proxy.read_head();
         proxy.reset();
       }},
      {"closes after the request", closing},
      {"resets after the request",
       [](PeerConnection& proxy) {
         proxy.read_request();
         proxy.reset();
       }},
      {"closes within the head of the answer",
       [](PeerConnection& proxy) {
         if (proxy.read_request()) proxy.send("HTTP/1.1 200");
       }},
      {"answers nonsense",
       [](PeerConnection& proxy) {
         if (proxy.read_request()) proxy.send("nonsense\r\n\r\n");
       }},
      {"is silent",
       [](PeerConnection& proxy) {
         if (proxy.read_request()) proxy.wait_closed();
       }},
      {"answers one and closes on the next",
       [](PeerConnection& proxy) {
         if (proxy.read_request()) proxy.send(ok("answer"));
         proxy.read_request();
       }},
      {"answers one and resets on the next",
       [](PeerConnection& proxy) {
         if (proxy.read_request()) proxy.send(ok("answer"));
         if (proxy.read_request()) proxy.reset();
       }},
  };
  constexpr int kClients = 16;
  constexpr int kRequests = 4;
  for (const Way& way : ways) {
    CAPTURE(way.name);
    ScriptedPeer peer(way.script);
    const ProxyUnderTest proxy(peer.address(),
                               with_retries(eager(), {{"response_timeout_ms", 200}}));
    std::vector<std::thread> threads;
    std::atomic<int> answered = 0;
    for (int c = 0; c < kClients; ++c) {
      threads.emplace_back([&, c] {
        RawClient client(proxy.port());
        for (int r = 0; r < kRequests; ++r) {
          const std::string id = "id-" + std::to_string(c) + "-" + std::to_string(r) + "-";
          const int status = client.ask(post("/", "once " + id)).status();
          if (status == 200 || status == 502 || status == 504) ++answered;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(answered == kClients * kRequests);
    for (int c = 0; c < kClients; ++c) {
      for (int r = 0; r < kRequests; ++r) {
        const std::string id = "id-" + std::to_string(c) + "-" + std::to_string(r) + "-";
        CHECK(received(peer, "once " + id) <= 1);
      }
    }
    CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
  }
  // The control: the same requests with a method that may be repeated are.
  ScriptedPeer peer(closing);
  const ProxyUnderTest proxy(peer.address(), with_retries(eager(2)));
  CHECK(RawClient(proxy.port())
            .ask("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\nonce id")
            .status() == 502);
  CHECK(received(peer, "once id") == 3);
}

namespace {

// How often an upstream that breaks everything is asked by `clients` that each ask `each` times.
std::size_t asked(const json& settings, int clients, int each) {
  ScriptedPeer peer(breaks(1'000'000, true));
  const ProxyUnderTest proxy(peer.address(), with_retries(settings));
  std::vector<std::thread> threads;
  for (int c = 0; c < clients; ++c) {
    threads.emplace_back([&] {
      RawClient client(proxy.port());
      for (int r = 0; r < each; ++r) CHECK(client.ask(get("/")).status() == 502);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::size_t requests = peer.seen().requests;
  CHECK(proxy.metric(retries("sent")) == requests - static_cast<std::size_t>(clients * each));
  CHECK(proxy.metric_becomes(R"(spillway_inflight{upstream="app"})", 0));
  return requests;
}

}  // namespace

TEST_CASE(
    "the budget bounds what a broken upstream is asked and without one it is asked far more") {
  const json stingy = {{"attempts", 10},
                       {"budget_ratio", 0.2},
                       {"budget_per_second", 1},
                       {"backoff_ms", 0},
                       {"max_backoff_ms", 0}};
  // Ten seconds' minimum, which an idle budget has saved up.
  CHECK(asked(stingy, 8, 50) <= 400 * 12 / 10 + 10);
  CHECK(asked(stingy, 8, 50) >= 400 * 11 / 10);  // and it is made use of
  CHECK(asked(eager(), 4, 10) >= 40 * 10);
}
