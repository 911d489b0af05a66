#include "proxy/upstream/health_probe.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_future.hpp>
#include <optional>
#include <string>

#include "support/scripted_peer.hpp"

namespace spillway::proxy {
namespace {

using support::PeerConnection;
using support::RefusingPort;
using support::ScriptedPeer;
using Result = observe::HealthCheckResult;

config::HealthCheck check_of(std::string path) {
  config::HealthCheck check;
  check.path = std::move(path);
  check.timeout = Milliseconds{5000};
  return check;
}

Probed probe(const config::HealthCheck& check, const Endpoint& server, std::size_t address = 0) {
  boost::asio::io_context io;
  auto probed =
      boost::asio::co_spawn(io, probe_health(check, server, address), boost::asio::use_future);
  io.run();
  return probed.get();
}

Result result_of(const config::HealthCheck& check, const std::string& server) {
  return observe::result_of(probe(check, resolve(server)).report.reason);
}

std::optional<Result> judged(std::string_view received, const config::HealthCheck& check) {
  const auto report = judge_probe_response(received, check);
  return report ? std::optional(observe::result_of(report->reason)) : std::nullopt;
}

// Of a server that answers with these bytes and closes.
Result result_of_answer(const std::string& bytes, const config::HealthCheck& check) {
  ScriptedPeer peer([&](PeerConnection& proxy) {
    if (proxy.read_request()) proxy.send(bytes);
  });
  return result_of(check, peer.address());
}
Result result_of_answer(const std::string& bytes) {
  return result_of_answer(bytes, check_of("/up"));
}

std::string status(int code) {
  return "HTTP/1.1 " + std::to_string(code) + " Said\r\nContent-Length: 0\r\n\r\n";
}

}  // namespace

TEST_CASE("a health check asks as it says it does") {
  ScriptedPeer peer(status(200));
  config::HealthCheck check = check_of("/up?deep=1");
  CHECK(result_of(check, peer.address()) == Result::success);
  check.host = "app.example";
  CHECK(result_of(check, peer.address()) == Result::success);
  const auto seen = peer.seen().received;
  const std::string rest =
      "User-Agent: spillway-health/" SPILLWAY_VERSION "\r\nConnection: close\r\n\r\n";
  REQUIRE(seen.size() == 2);
  CHECK(seen[0] == "GET /up?deep=1 HTTP/1.1\r\nHost: " + peer.address() + "\r\n" + rest);
  CHECK(seen[1] == "GET /up?deep=1 HTTP/1.1\r\nHost: app.example\r\n" + rest);
}

TEST_CASE("the status decides and its bounds belong to it") {
  config::HealthCheck check = check_of("/up");
  check.min_status = 201;
  check.max_status = 404;
  for (const auto& [code, expected] : {std::pair{200, Result::failure},
                                       {201, Result::success},
                                       {302, Result::success},
                                       {404, Result::success},
                                       {405, Result::failure},
                                       {500, Result::failure}}) {
    CAPTURE(code);
    CHECK(judged(status(code), check) == expected);
  }
}

TEST_CASE("a check says why it failed") {
  const config::HealthCheck check = check_of("/up");
  const auto report = judge_probe_response(status(503), check);
  REQUIRE(report);
  CHECK(report->reason == observe::HealthCheckReason::status);
  CHECK(report->detail == "503");
  const auto no_http = judge_probe_response("hello\r\n\r\n", check);
  REQUIRE(no_http);
  CHECK(no_http->reason == observe::HealthCheckReason::invalid);
  CHECK(no_http->detail == "The status line is malformed.");
}

TEST_CASE("interim responses are passed over but a switch of protocols is none") {
  const config::HealthCheck check = check_of("/up");
  const std::string hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
  CHECK(judged(hints + hints + status(200), check) == Result::success);
  CHECK(judged(hints, check) == std::nullopt);
  CHECK(judged("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n" + status(200), check) ==
        Result::failure);
  CHECK(result_of_answer(hints + hints + status(200)) == Result::success);
  CHECK(result_of_answer(hints) == Result::failure);  // the connection ends there
}

TEST_CASE("a response is judged when its head is complete and not before") {
  const config::HealthCheck check = check_of("/up");
  const std::string head = status(200);
  for (std::size_t size = 0; size < head.size(); ++size) {
    CAPTURE(size);
    CHECK(judged(head.substr(0, size), check) == std::nullopt);
  }
  CHECK(judged(head, check) == Result::success);
  CHECK(judged(head + "HTTP/1.1 500", check) == Result::success);
}

TEST_CASE("what is no HTTP fails a check") {
  for (const char* bytes :
       {"hello\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 200 OK\n\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX : 1\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n\r\n"}) {
    CAPTURE(bytes);
    CHECK(judged(bytes, check_of("/up")) == Result::failure);
    CHECK(result_of_answer(bytes) == Result::failure);
  }
  for (const char* cut_short : {"", "HTTP/1.1 200 OK\r\n"})
    CHECK(result_of_answer(cut_short) == Result::failure);
}

TEST_CASE("a check reads no more than it has to") {
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n";
  CHECK(result_of_answer(head + std::string(100'000, 'x')) == Result::success);
  CHECK(result_of_answer("HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x')) == Result::failure);
  const std::string fitting = "HTTP/1.1 200 OK\r\nX: ";
  const std::size_t room = kMaxProbeBytes - fitting.size() - 4;
  CHECK(result_of_answer(fitting + std::string(room, 'x') + "\r\n\r\n") == Result::success);
  CHECK(result_of_answer(fitting + std::string(room + 1, 'x') + "\r\n\r\n") == Result::failure);
  std::string endless;
  while (endless.size() < kMaxProbeBytes) endless += "HTTP/1.1 100 Continue\r\n\r\n";
  CHECK(result_of_answer(endless + status(200)) == Result::failure);
}

TEST_CASE("an answer that comes byte by byte is judged when its head is whole") {
  ScriptedPeer peer([](PeerConnection& proxy) {
    if (!proxy.read_request()) return;
    for (const char byte : status(200)) proxy.send({&byte, 1});
    proxy.wait_closed();
  });
  CHECK(result_of(check_of("/up"), peer.address()) == Result::success);
}

TEST_CASE("a check that takes too long ends at its deadline") {
  ScriptedPeer silent([](PeerConnection& proxy) { proxy.wait_closed(); });
  ScriptedPeer half([](PeerConnection& proxy) {
    if (!proxy.read_request()) return;
    proxy.send("HTTP/1.1 200 OK\r\n");
    proxy.wait_closed();
  });
  config::HealthCheck check = check_of("/up");
  check.timeout = Milliseconds{50};
  CHECK(result_of(check, silent.address()) == Result::timeout);
  CHECK(result_of(check, half.address()) == Result::timeout);
  CHECK(result_of(check_of(""), silent.address()) == Result::success);
}

TEST_CASE("a server that refuses connections fails a check with and without a path") {
  const RefusingPort port;
  CHECK(result_of(check_of("/up"), port.address()) == Result::failure);
  CHECK(result_of(check_of(""), port.address()) == Result::failure);
}

TEST_CASE("a check asks the next address of a server whose first one refuses") {
  const RefusingPort port;
  ScriptedPeer peer(status(200));
  Endpoint both = resolve(port.address());
  both.addresses.push_back(resolve(peer.address()).addresses[0]);
  for (const std::size_t first : {0, 1}) {
    const Probed probed = probe(check_of("/up"), both, first);
    CHECK(probed.report.reason == observe::HealthCheckReason::success);
    CHECK(probed.address == 1);
    CHECK(probed.is_connected);
  }
  both.addresses.pop_back();
  const Probed refused = probe(check_of("/up"), both);
  CHECK(refused.report.reason == observe::HealthCheckReason::refused);
  CHECK_FALSE(refused.is_connected);
}

TEST_CASE("a check that this process has no descriptor for says nothing") {
  ScriptedPeer peer(status(200));
  const Endpoint endpoint = resolve(peer.address());
  const config::HealthCheck check = check_of("/up");
  boost::asio::io_context io;
  const boost::asio::steady_timer first(io);  // makes the reactor, which needs descriptors
  auto result = boost::asio::co_spawn(io, probe_health(check, endpoint), boost::asio::use_future);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  io.run();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(result.get().report.reason == observe::HealthCheckReason::skipped);
}

}  // namespace spillway::proxy
