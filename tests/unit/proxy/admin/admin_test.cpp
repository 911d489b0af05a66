#include "proxy/admin/admin.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::proxy {
namespace {

AdminSource sample_source() {
  return {[] { return std::string("# metrics\n"); }, [] { return std::string("{\"state\":1}"); },
          [] { return std::string("{\"config\":1}"); },
          []() -> boost::asio::awaitable<std::string> { co_return std::string(); },
          [](const cache::PurgeRequest&) { return cache::PurgeResult{}; }};
}

// A server on a free port with the given token.
struct Running {
  explicit Running(std::string token = {}, AdminSource source = sample_source())
      : server(config::Admin{"127.0.0.1", 0, std::move(token)}, std::move(source)) {
    server.start();
  }
  AdminServer server;
};

// A blocking connection that says exactly the bytes it is told to.
class Client {
 public:
  explicit Client(const AdminServer& server) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server.port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  Client& send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) break;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return *this;
  }

  // Everything until the server closes; fails the test after 15 s.
  std::string until_closed() {
    std::string text;
    while (read_some(text)) {
    }
    return text;
  }

  // One answer with a Content-Length; `to_head`: one without its body.
  std::string answer(bool to_head = false) {
    std::string& text = pending_;
    while (text.find("\r\n\r\n") == std::string::npos && read_some(text)) {
    }
    const std::size_t head = text.find("\r\n\r\n");
    REQUIRE(head != std::string::npos);
    const std::size_t field = text.find("Content-Length: ");
    REQUIRE(field < head);
    const std::size_t length = std::strtoul(text.c_str() + field + 16, nullptr, 10);
    const std::size_t size = head + 4 + (to_head ? 0 : length);
    while (text.size() < size && read_some(text)) {
    }
    REQUIRE(text.size() >= size);
    std::string result = text.substr(0, size);
    text.erase(0, size);
    return result;
  }

 private:
  bool read_some(std::string& text) {
    pollfd ready{socket_, POLLIN, 0};
    REQUIRE(poll(&ready, 1, 15'000) == 1);
    char block[4096];
    const ssize_t size = recv(socket_, block, sizeof block, 0);
    if (size > 0) text.append(block, static_cast<std::size_t>(size));
    return size > 0;
  }

  int socket_;
  std::string pending_;
};

std::string request(std::string_view line, std::string_view fields = {},
                    std::string_view host = "127.0.0.1:9090") {
  return std::string(line) + " HTTP/1.1\r\nHost: " + std::string(host) + "\r\n" +
         std::string(fields) + "\r\n";
}

std::string fetch(const AdminServer& server, std::string_view line, std::string_view fields = {},
                  std::string_view host = "127.0.0.1:9090") {
  return Client(server).send(request(line, fields, host)).answer(line.starts_with("HEAD"));
}

int status(const std::string& answer) {
  return answer.size() > 12 ? std::atoi(answer.c_str() + 9) : 0;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("the admin listener serves its pages and forbids to keep them") {
  const Running admin;
  const std::string metrics = fetch(admin.server, "GET /metrics");
  CHECK(status(metrics) == 200);
  CHECK(has(metrics, "Content-Type: text/plain; version=0.0.4"));
  CHECK(has(metrics, "Cache-Control: no-store"));
  CHECK(has(metrics, "X-Content-Type-Options: nosniff"));
  CHECK(metrics.ends_with("\r\n\r\n# metrics\n"));
  CHECK(fetch(admin.server, "GET /state?pretty=1").ends_with("{\"state\":1}"));
  CHECK(fetch(admin.server, "GET /config").ends_with("{\"config\":1}"));
  CHECK(status(fetch(admin.server, "GET /healthz")) == 200);
  CHECK(has(fetch(admin.server, "GET /"), "/metrics"));
  CHECK(status(fetch(admin.server, "GET http://localhost:9090/metrics")) == 200);
}

TEST_CASE("HEAD gets the head that GET would get") {
  const Running admin;
  const std::string answer =
      Client(admin.server).send(request("HEAD /metrics", "Connection: close\r\n")).until_closed();
  CHECK(status(answer) == 200);
  CHECK(has(answer, "Content-Length: 10\r\n"));
  CHECK(answer.ends_with("\r\n\r\n"));
}

TEST_CASE("an unknown page is 404 and a method that changes things is 405 with Allow") {
  const Running admin;
  CHECK(status(fetch(admin.server, "GET /etc/passwd")) == 404);
  const std::string answer = fetch(admin.server, "POST /config", "Content-Length: 0\r\n");
  CHECK(status(answer) == 405);
  CHECK(has(answer, "Allow: GET, HEAD\r\n"));
  CHECK(has(answer, "application/problem+json"));
}

TEST_CASE("a purge on the wire is read whole however it is framed") {
  AdminSource source = sample_source();
  source.purge = [](const cache::PurgeRequest& what) {
    return cache::PurgeResult{.purged = what.path_and_query.size(), .unknown = {}};
  };
  const Running admin({}, source);
  constexpr std::string_view json = "Content-Type: application/json\r\n";
  const std::string body = "{\"key\":\"/" + std::string(8191, 'x') + "\"}";
  const std::string padded = body + std::string(65536 - body.size(), ' ');
  Client client(admin.server);
  client.send(request("POST /cache/purge", std::string(json) + "Content-Length: 65536\r\n") +
              padded +
              request("POST /cache/purge", std::string(json) + "Transfer-Encoding: chunked\r\n") +
              "10000\r\n" + padded + "\r\n0\r\n\r\n" + request("OPTIONS /cache/purge") +
              request("GET /state"));
  CHECK(client.answer().ends_with("\r\n\r\n{\"purged\":8192}\n"));
  CHECK(client.answer().ends_with("\r\n\r\n{\"purged\":8192}\n"));
  CHECK(has(client.answer(), "Allow: POST\r\n"));
  CHECK(client.answer().ends_with("{\"state\":1}"));
}

TEST_CASE("readiness is 503 with its reason while it is not ready and 200 afterwards") {
  std::string reason = "draining";
  AdminSource source = sample_source();
  source.not_ready_reason = [&reason]() -> boost::asio::awaitable<std::string> {
    co_return reason;
  };
  Running admin({}, source);
  const std::string answer = fetch(admin.server, "GET /readyz");
  CHECK(status(answer) == 503);
  CHECK(has(answer, R"("reason":"draining")"));
  CHECK(status(fetch(admin.server, "GET /healthz")) == 200);

  Running ready;
  CHECK(status(fetch(ready.server, "GET /readyz")) == 200);
  CHECK(status(fetch(ready.server, "HEAD /readyz")) == 200);
  CHECK(has(fetch(ready.server, "POST /readyz", "Content-Length: 0\r\n"), "Allow: GET, HEAD\r\n"));
}

TEST_CASE("other pages are served while readiness is being found out") {
  AdminSource source = sample_source();
  source.not_ready_reason = []() -> boost::asio::awaitable<std::string> {
    const auto executor = co_await boost::asio::this_coro::executor;
    boost::asio::steady_timer forever(executor, boost::asio::steady_timer::time_point::max());
    co_await forever.async_wait(boost::asio::use_awaitable);
    co_return std::string();
  };
  const Running admin({}, source);
  Client waiting(admin.server);
  waiting.send(request("GET /readyz"));
  for (int n = 0; n < 3; ++n) CHECK(status(fetch(admin.server, "GET /state")) == 200);
}

TEST_CASE("readiness that cannot be found out is a 500 and the listener lives on") {
  AdminSource source = sample_source();
  source.not_ready_reason = []() -> boost::asio::awaitable<std::string> {
    throw std::runtime_error("secret detail");
    co_return std::string();
  };
  const Running admin({}, source);
  CHECK(status(fetch(admin.server, "GET /readyz")) == 500);
  CHECK(status(fetch(admin.server, "GET /state")) == 200);
}

TEST_CASE("with a token every page but the health pages asks for it") {
  const Running admin("s3cret");
  for (const char* line : {"GET /metrics", "GET /state", "GET /config", "GET /", "GET /unknown"}) {
    const std::string answer = fetch(admin.server, line);
    CHECK(status(answer) == 401);
    CHECK(has(answer, "WWW-Authenticate: Bearer realm=\"spillway\"\r\n"));
  }
  for (const char* wrong : {"s3cre", "s3cret2", "S3CRET", "", "s3cres3cre", "\xff"}) {
    const std::string answer =
        fetch(admin.server, "GET /metrics", "Authorization: Bearer " + std::string(wrong) + "\r\n");
    CHECK_MESSAGE(status(answer) == 401, wrong);
  }
  CHECK(status(fetch(admin.server, "GET /metrics", "Authorization: Basic s3cret\r\n")) == 401);
  CHECK(status(fetch(admin.server, "GET /metrics", "Authorization: Bearer s3cret\r\n")) == 200);
  CHECK(status(fetch(admin.server, "GET /metrics", "authorization: bearer s3cret\r\n")) == 200);
  CHECK(status(fetch(admin.server, "GET /healthz")) == 200);
  CHECK(status(fetch(admin.server, "GET /readyz")) == 200);
  // The token is proof enough; the name we are called by does not matter then.
  CHECK(status(fetch(admin.server, "GET /metrics", "Authorization: Bearer s3cret\r\n",
                     "proxy.example")) == 200);
}

TEST_CASE("without a token only a loopback host name is served") {
  const Running admin;
  for (const char* host :
       {"localhost", "LOCALHOST:9090", "127.0.0.1", "127.1.2.3:1", "[::1]:9090", "[::1]"}) {
    CHECK_MESSAGE(status(fetch(admin.server, "GET /state", {}, host)) == 200, host);
  }
  for (const char* host : {"evil.example",
                           "evil.example:9090",
                           "localhost.evil.example",
                           "127.0.0.1.evil.example",
                           "10.0.0.1",
                           "[::2]",
                           "[",
                           "",
                           "127.0.0.1:x@evil",
                           "127.0.0.1:80@evil",
                           "localhost:x",
                           "[::1",
                           "[::1]x",
                           "[::1]:x@evil",
                           "[::1]@evil",
                           "::1",
                           "localhost@evil",
                           "localhost:99999",
                           "[127.0.0.1]",
                           "127.1",
                           "localhost.",
                           "0x7f.1"}) {
    CHECK_MESSAGE(status(fetch(admin.server, "GET /state", {}, host)) == 403, host);
  }
  CHECK(status(fetch(admin.server, "GET http://evil.example/state")) == 403);
  CHECK(status(fetch(admin.server, "GET /healthz", {}, "evil.example")) == 200);
}

TEST_CASE("a page that fails is a 500 and the listener lives on") {
  AdminSource source = sample_source();
  source.state = []() -> std::string { throw std::runtime_error("secret detail"); };
  const Running admin({}, source);
  const std::string answer = fetch(admin.server, "GET /state");
  CHECK(status(answer) == 500);
  CHECK_FALSE(has(answer, "secret detail"));
  CHECK(status(fetch(admin.server, "GET /metrics")) == 200);
}

TEST_CASE("pipelined requests are answered in order on one connection") {
  const Running admin;
  Client client(admin.server);
  client.send(request("GET /state") + request("HEAD /config") + request("GET /metrics") +
              request("POST /metrics", "Content-Length: 3\r\n") + "abc" + request("GET /config"));
  CHECK(client.answer().ends_with("{\"state\":1}"));
  CHECK(status(client.answer(true)) == 200);
  CHECK(client.answer().ends_with("# metrics\n"));
  CHECK(status(client.answer()) == 405);
  CHECK(client.answer().ends_with("{\"config\":1}"));
}

TEST_CASE("garbage and oversized requests are refused and the connection closed") {
  const Running admin;
  const auto refused = [&](std::string_view bytes) {
    const std::string answer = Client(admin.server).send(bytes).until_closed();
    CHECK(has(answer, "Connection: close"));
    return status(answer);
  };
  CHECK(refused("\x16\x03\x01 hello\r\n\r\n") == 400);
  CHECK(refused("GET /state HTTP/1.1\r\nHost : x\r\n\r\n") == 400);
  CHECK(refused("GET /state HTTP/1.1\r\nConnection: close\r\n\r\n") == 400);
  CHECK(refused(
            "GET /state HTTP/1.1\r\nConnection: close\r\nHost: localhost\r\nHost: evil\r\n\r\n") ==
        400);
  CHECK(refused(request("GET /" + std::string(100'000, 'x'))) == 431);
  CHECK(refused(request("GET /state", "X: " + std::string(100'000, 'x') + "\r\n")) == 431);
  CHECK(refused(request("POST /state", "Content-Length: 65537\r\n") + std::string(65537, 'x')) ==
        413);
  CHECK(refused(request("POST /state", "Transfer-Encoding: chunked\r\n") + "10001\r\n" +
                std::string(0x10001, 'x') + "\r\n0\r\n\r\n") == 413);
  CHECK(status(fetch(admin.server, "GET /state")) == 200);
}

TEST_CASE("a request that never ends is cut off after five seconds and delays no other") {
  const Running admin;
  Client slow(admin.server);
  slow.send("GET /state HTTP/1.1\r\nHost: loc");
  const auto begin = std::chrono::steady_clock::now();
  CHECK(status(fetch(admin.server, "GET /state")) == 200);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{3});
  CHECK(slow.until_closed().empty());
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{12});
}

TEST_CASE("with as many connections as may be the one that is silent for longest gives way") {
  const Running admin;
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 64; ++i) {
    clients.push_back(std::make_unique<Client>(admin.server));
    if (i % 2 == 0) continue;  // has asked for nothing yet
    clients.back()->send(request("GET /state"));
    REQUIRE(status(clients.back()->answer()) == 200);
  }
  // The first is not the longest silent any more.
  clients[0]->send(request("GET /state"));
  REQUIRE(status(clients[0]->answer()) == 200);
  for (int i = 1; i <= 20; ++i) {
    clients.push_back(std::make_unique<Client>(admin.server));
    clients.back()->send(request("GET /state"));
    CHECK(status(clients.back()->answer()) == 200);
    CHECK(clients[static_cast<std::size_t>(i)]->until_closed().empty());
  }
  clients[0]->send(request("GET /state"));
  CHECK(status(clients[0]->answer()) == 200);
}

TEST_CASE("stopping closes open connections and frees the port") {
  auto admin = std::make_unique<Running>();
  const std::uint16_t port = admin->server.port();
  Client idle(admin->server);
  idle.send(request("GET /state"));
  CHECK(status(idle.answer()) == 200);
  admin->server.stop();
  CHECK(idle.until_closed().empty());
  admin->server.stop();
  CHECK(admin->server.port() == 0);
  AdminServer again(config::Admin{"127.0.0.1", port, {}}, sample_source());
  again.start();
  CHECK(again.port() == port);
}

TEST_CASE("an address that cannot be bound is named in the error") {
  const Running admin;
  const std::string port = std::to_string(admin.server.port());
  AdminServer second(config::Admin{"127.0.0.1", admin.server.port(), {}}, sample_source());
  try {
    second.start();
    FAIL("bound twice");
  } catch (const std::runtime_error& error) {
    CHECK(has(error.what(), "cannot listen for the admin on 127.0.0.1:" + port));
  }
  AdminServer unnamed(config::Admin{"no address", 0, {}}, sample_source());
  CHECK_THROWS_WITH_AS(unnamed.start(),
                       "cannot listen for the admin on \"no address\": not an IP address",
                       std::runtime_error);
}

}  // namespace
}  // namespace spillway::proxy
