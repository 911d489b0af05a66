// One server whose name has several addresses.
#include "proxy/call/server_connector.hpp"

#include <doctest/doctest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "support/full_backlog.hpp"
#include "support/scripted_peer.hpp"
#include "unit/proxy/request/lone_process.hpp"

namespace spillway::proxy {
namespace {

using observe::ServerFailure;
using support::FullBacklog;
using support::RefusingPort;
using support::ScriptedPeer;

config::Config logged() {
  nlohmann::json changed = settings({{"strategy", "allow"}});
  changed["log"]["level"] = "warn";
  return support::checked(changed);
}

// A request for a server with these addresses.
struct Connecting {
  explicit Connecting(const std::vector<std::string>& addresses) {
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

  // Of one request. `is_late`: the sweep finds the first wait at its deadline.
  std::optional<Fault> fault(bool is_late = false) {
    ServerConnector connector(process.services, request, parking);
    std::optional<ServerConnector::Connected> connected;
    run(connector, connected);
    if (is_late) parking.wake(Wake::timeout);
    const support::Deadline deadline;
    while (!connected && !deadline.passed()) process.loop.poll();
    REQUIRE(connected);
    CHECK(connector.attempts() == 1);
    CHECK((connected->connection != nullptr) == !connected->fault);
    return connected->fault;
  }

  std::shared_ptr<std::ostringstream> log = std::make_shared<std::ostringstream>();
  Process process{logged(), std::make_shared<spdlog::sinks::ostream_sink_mt>(*log)};

 private:
  Detached run(ServerConnector& connector, std::optional<ServerConnector::Connected>& connected) {
    const Deadlines deadlines;
    connected.emplace(co_await connector.connect(true, Clock::now(), deadlines));
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

}  // namespace spillway::proxy
