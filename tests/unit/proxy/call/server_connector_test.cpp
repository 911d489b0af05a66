// One server: whose name has several addresses, and to which no connection can be made for want of
// something of our own.
#include "proxy/call/server_connector.hpp"

#include <doctest/doctest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/full_backlog.hpp"
#include "support/scripted_peer.hpp"
#include "unit/proxy/call/failing_calls.hpp"
#include "unit/proxy/request/lone_process.hpp"

namespace spillway::proxy {
namespace {

using observe::LocalShortage;
using observe::ServerFailure;
using support::FullBacklog;
using support::RefusingPort;
using support::ScriptedPeer;

const nlohmann::json kBreaker{{"circuit_breaker", {{"consecutive_failures", 1}}}};

config::Config logged(const nlohmann::json& upstream) {
  nlohmann::json changed = settings({{"strategy", "allow"}});
  changed["log"]["level"] = "warn";
  changed["upstreams"][0].update(upstream);
  return support::checked(changed);
}

// A request for a server with these addresses.
struct Connecting {
  explicit Connecting(const std::vector<std::string>& addresses,
                      const nlohmann::json& its_settings = nlohmann::json::object())
      : process(logged(its_settings), std::make_shared<spdlog::sinks::ostream_sink_mt>(*log)) {
    std::vector<boost::asio::ip::tcp::endpoint>& known = upstream().endpoints[0].addresses;
    known.clear();
    for (const std::string& each : addresses) known.push_back(resolve(each).addresses.at(0));
  }

  Upstream& upstream() { return process.generation->upstream(UpstreamId{}); }
  std::size_t in_use() { return upstream().servers.address_in_use(0); }
  std::uint64_t failures(ServerFailure kind) {
    observe::UpstreamSnapshot snapshot;
    upstream().servers.read_snapshot(snapshot);
    return snapshot.servers[0].failures[index(kind)];
  }

  std::uint64_t shortages(LocalShortage kind) {
    observe::UpstreamSnapshot snapshot;
    upstream().servers.read_snapshot(snapshot);
    return snapshot.shortages[index(kind)];
  }
  std::int64_t connections() { return process.gauges->upstream_connections.value(); }
  bool is_blamed() { return !process.generation->circuits(UpstreamId{}).lets_through(0); }

  // Of one request. `is_late`: the sweep finds the first wait at its deadline. `keeps`: the
  // connection becomes idle.
  std::optional<Fault> fault(bool is_late = false, bool keeps = false) {
    ServerConnector connector(process.services, request, parking);
    std::optional<ServerConnector::Connected> connected;
    run(connector, connected);
    if (is_late) parking.wake(Wake::timeout);
    const support::Deadline deadline;
    while (!connected && !deadline.passed()) process.loop.poll();
    REQUIRE(connected);
    CHECK(connector.attempts() == 1);
    CHECK((connected->connection != nullptr) == !connected->fault);
    if (keeps)
      process.generation->pool(UpstreamId{})
          .give_back(std::move(connected->connection), Clock::now());
    return connected->fault;
  }

  std::shared_ptr<std::ostringstream> log = std::make_shared<std::ostringstream>();
  Process process;

 private:
  Detached run(ServerConnector& connector, std::optional<ServerConnector::Connected>& connected) {
    const Deadlines deadlines;
    ServerConnector::Connected begun = connector.take_kept(true, Clock::now());
    if (!begun.is_settled()) co_await connector.connect(begun, deadlines);
    connected.emplace(std::move(begun));
  }

  http::RequestHead head;
  ClientInfo client;
  RequestContext request{RequestContext::Kind::live, *process.generation, head, client,
                         Clock::now()};
  Parking parking;
};

}  // namespace

TEST_CASE("where the first address of a server refuses the next one is asked and remembered") {
  const RefusingPort refusing;
  ScriptedPeer peer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  Connecting under({refusing.address(), peer.address()});
  CHECK_FALSE(under.fault());
  CHECK(under.in_use() == 1);
  CHECK_FALSE(under.fault());
  CHECK(under.in_use() == 1);
  CHECK(under.failures(ServerFailure::refused) == 0);
}

TEST_CASE("a server fails once when all its addresses refuse and the log says which") {
  const RefusingPort first, second;
  std::shared_ptr<std::ostringstream> log;
  {
    Connecting under({first.address(), second.address()});
    log = under.log;
    const auto fault = under.fault();
    REQUIRE(fault);
    CHECK(fault->reason == Reason::upstream_unavailable);
    CHECK(under.failures(ServerFailure::refused) == 1);
    CHECK(under.in_use() == 0);
  }
  CHECK(log->str().find("\"address\":\"" + second.address() + "\"") != std::string::npos);
}

TEST_CASE("after an address that does not answer the next request begins with the next one") {
  const FullBacklog silent;
  ScriptedPeer peer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  Connecting under({silent.address(), peer.address()});
  const auto fault = under.fault(true);
  REQUIRE(fault);
  CHECK(under.failures(ServerFailure::connect_timeout) == 1);
  CHECK(under.in_use() == 1);
  CHECK_FALSE(under.fault());
}

TEST_CASE("a want of our own is no failure of the server") {
  using Call = FailingCall::Call;
  struct Case {
    Call call;
    int error;
    LocalShortage kind;
  };
  for (const auto& [call, error, kind] : {Case{Call::connect, EADDRNOTAVAIL, LocalShortage::ports},
                                          Case{Call::connect, EAGAIN, LocalShortage::ports},
                                          Case{Call::connect, EMFILE, LocalShortage::descriptors},
                                          Case{Call::connect, ENFILE, LocalShortage::descriptors},
                                          Case{Call::connect, ENOBUFS, LocalShortage::memory},
                                          Case{Call::watch, ENOSPC, LocalShortage::memory}}) {
    CAPTURE(error);
    ScriptedPeer peer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    std::shared_ptr<std::ostringstream> log;
    {
      Connecting under({peer.address()}, kBreaker);
      log = under.log;
      {
        const FailingCall failing(call, error, peer.port());
        for (int n = 0; n < 3; ++n) {
          const auto fault = under.fault();
          REQUIRE(fault);
          CHECK(fault->reason == Reason::local_shortage);
        }
      }
      CHECK(under.shortages(kind) == 3);
      for (std::size_t k = 0; k < observe::kServerFailureCount; ++k)
        CHECK(under.failures(static_cast<ServerFailure>(k)) == 0);
      CHECK_FALSE(under.is_blamed());
      CHECK(under.upstream().is_live());
      CHECK(under.connections() == 0);
      CHECK_FALSE(under.fault());
    }
    const std::string told = log->str();
    const auto line = told.find("\"event\":\"local_shortage\"");
    CHECK(line != std::string::npos);
    CHECK(told.find("\"event\"", line + 1) == std::string::npos);  // one, and nothing else
    CHECK(told.find("\"reason\":\"" + std::string(name(kind)) + "\",\"detail\":\"") !=
          std::string::npos);
  }
}

TEST_CASE("control: an error that says something of the server is its failure") {
  ScriptedPeer peer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  Connecting under({peer.address()}, kBreaker);
  const FailingCall failing(FailingCall::Call::connect, ENETUNREACH, peer.port());
  const auto fault = under.fault();
  REQUIRE(fault);
  CHECK(fault->reason == Reason::upstream_unavailable);
  CHECK(under.failures(ServerFailure::refused) == 1);
  CHECK(under.is_blamed());
}

TEST_CASE("an idle connection is closed where that makes room, and not for want of a port") {
  for (const int error : {EMFILE, EADDRNOTAVAIL}) {
    CAPTURE(error);
    ScriptedPeer peer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    Connecting under({peer.address()});
    CHECK_FALSE(under.fault(false, true));
    REQUIRE(under.connections() == 1);
    const FailingCall failing(FailingCall::Call::connect, error, peer.port());
    CHECK(under.fault());
    CHECK(under.connections() == (error == EMFILE ? 0 : 1));
  }
}

TEST_CASE("an address that there is no port for is not told of where another one accepts") {
  ScriptedPeer first("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
      second("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  Connecting under({first.address(), second.address()});
  const FailingCall failing(FailingCall::Call::connect, EADDRNOTAVAIL, first.port());
  CHECK_FALSE(under.fault());
  CHECK(under.in_use() == 1);
  CHECK(under.shortages(LocalShortage::ports) == 0);
}

}  // namespace spillway::proxy
