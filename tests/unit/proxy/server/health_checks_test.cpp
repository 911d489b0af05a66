#include "proxy/server/health_checks.hpp"

#include <doctest/doctest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "support/full_backlog.hpp"
#include "support/mortal_server.hpp"
#include "support/proxy_under_test.hpp"
#include "support/scripted_peer.hpp"

namespace spillway::proxy {
namespace {

using namespace std::chrono_literals;
using resilience::HealthState;
using support::FullBacklog;
using support::MortalServer;
using support::PeerConnection;
using support::ScriptedPeer;

// A timeout longer than the interval, which a configuration file may not ask for, keeps checks
// under way for as long as a test needs.
std::shared_ptr<Generation> checked_generation(const std::vector<std::string>& servers,
                                               Milliseconds interval, Milliseconds timeout) {
  ReadConfiguration read = resolve_servers(support::checked(
      {{"log", {{"level", "info"}}},
       {"upstreams",
        {{{"name", "app"},
          {"servers", servers},
          {"health_check", {{"path", "/up"}, {"healthy_after", 1}, {"unhealthy_after", 1}}}}}}}));
  REQUIRE(read.config);
  read.config->upstreams[0].health_check->interval = interval;
  read.config->upstreams[0].health_check->timeout = timeout;
  return std::make_shared<Generation>(std::move(*read.config), std::move(read.endpoints),
                                      ProcessContext{});
}

// Runs checks on this thread.
struct Checked {
  Checked(const std::vector<std::string>& servers, Milliseconds interval, Milliseconds timeout = 5s)
      : generation(checked_generation(servers, interval, timeout)),
        log(generation->config.log, std::make_shared<spdlog::sinks::ostream_sink_mt>(*lines)),
        checks(std::make_shared<HealthChecks>(generation, workers, log, random)) {}

  template <class Condition>
  bool run_until(Condition condition) {
    const support::Deadline deadline;
    while (!condition() && !deadline.passed()) io.run_one_for(10ms);
    return condition();
  }
  std::uint64_t results(std::size_t server) const {
    observe::UpstreamSnapshot snapshot;
    generation->upstreams[0].servers.read_snapshot(snapshot);
    std::uint64_t sum = 0;
    for (const std::uint64_t count : snapshot.servers[server].checks) sum += count;
    return sum;
  }
  HealthState health(std::size_t server) const {
    return generation->upstreams[0].servers.health(server);
  }

  std::shared_ptr<std::ostringstream> lines = std::make_shared<std::ostringstream>();
  std::shared_ptr<Generation> generation;
  observe::Log log;
  std::vector<std::unique_ptr<Worker>> workers;
  Random random{1};
  boost::asio::io_context io;
  std::shared_ptr<HealthChecks> checks;
};

}  // namespace

TEST_CASE("a server is checked again and again and one that does not answer delays no other") {
  const MortalServer well;
  const FullBacklog silent;
  Checked checked({silent.address(), well.address()}, 100ms);
  checked.checks->start(checked.io);
  CHECK(checked.run_until([&] { return checked.results(1) >= 5; }));
  CHECK(checked.health(1) == HealthState::well);
  CHECK(checked.results(0) == 0);
}

TEST_CASE("the first checks come within a tenth of the interval and not all at once") {
  const std::array<MortalServer, 8> servers;
  std::vector<std::string> addresses;
  for (const MortalServer& server : servers) addresses.push_back(server.address());
  Checked checked(addresses, 10s);
  const TimePoint began = Clock::now();
  checked.checks->start(checked.io);
  std::array<TimePoint, 8> concluded{};
  CHECK(checked.run_until([&] {
    for (std::size_t n = 0; n < servers.size(); ++n) {
      if (concluded[n] == TimePoint{} && checked.results(n) > 0) concluded[n] = Clock::now();
    }
    return std::ranges::count(concluded, TimePoint{}) == 0;
  }));
  const auto [first, last] = std::ranges::minmax_element(concluded);
  CHECK(*last - began < 3s);
  CHECK(*last - *first > 100ms);
}

TEST_CASE("stopping ends the checks under way at once and they count for nothing") {
  ScriptedPeer silent([](PeerConnection& proxy) { proxy.wait_closed(); });
  Checked checked({silent.address()}, 100ms, 30s);
  checked.checks->start(checked.io);
  CHECK(checked.run_until([&] { return silent.seen().connections > 0; }));
  const std::weak_ptr<HealthChecks> alive = checked.checks;
  const TimePoint began = Clock::now();
  checked.checks->stop();
  checked.checks.reset();
  checked.io.run();
  CHECK(Clock::now() - began < 5s);
  CHECK(alive.expired());
  CHECK(checked.results(0) == 0);
  CHECK(checked.generation.use_count() == 1);
}

TEST_CASE("checks that are stopped before they begin end as well") {
  const MortalServer server;
  Checked checked({server.address()}, 60s);
  checked.checks->start(checked.io);
  checked.checks->stop();
  checked.io.run();
  CHECK(server.accepted() == 0);
}

TEST_CASE("the loop may end in the middle of a check") {
  ScriptedPeer silent([](PeerConnection& proxy) { proxy.wait_closed(); });
  std::weak_ptr<HealthChecks> alive;
  {
    Checked checked({silent.address()}, 100ms, 30s);
    alive = checked.checks;
    checked.checks->start(checked.io);
    CHECK(checked.run_until([&] { return silent.seen().connections > 0; }));
  }
  CHECK(alive.expired());
}

TEST_CASE("a check does not delay what else its thread has to do") {
  std::vector<FullBacklog> silent(16);
  std::vector<std::string> addresses;
  for (const FullBacklog& server : silent) addresses.push_back(server.address());
  // Longer than the test's patience: a check that blocked its thread would fail the test.
  Checked checked(addresses, 100ms, 60s);
  checked.checks->start(checked.io);
  int ticks = 0;
  boost::asio::steady_timer timer(checked.io);
  const std::function<void()> tick = [&] {
    timer.expires_after(1ms);
    timer.async_wait([&](const boost::system::error_code&) {
      ++ticks;
      tick();
    });
  };
  tick();
  CHECK(checked.run_until([&] { return ticks >= 100; }));  // all have begun within ten of them
  CHECK(checked.results(0) == 0);
}

TEST_CASE("checks find the address of a server that accepts and requests begin with that") {
  const MortalServer well;
  const FullBacklog silent;
  Checked checked({silent.address()}, 100ms, 50ms);
  Upstream& upstream = checked.generation->upstreams[0];
  upstream.endpoints[0].addresses.push_back(resolve(well.address()).addresses[0]);
  checked.checks->start(checked.io);
  CHECK(checked.run_until([&] { return checked.health(0) == HealthState::well; }));
  CHECK(upstream.servers.address_in_use(0) == 1);
}

TEST_CASE("the log says why a server is unhealthy and nothing of one that never failed") {
  const MortalServer well;
  MortalServer moved;
  moved.answer_checks_with(404);
  const support::RefusingPort refusing;
  std::shared_ptr<std::ostringstream> lines;
  {
    Checked checked({well.address(), moved.address(), refusing.address()}, 100ms);
    lines = checked.lines;
    checked.checks->start(checked.io);
    CHECK(checked.run_until([&] {
      return checked.health(0) == HealthState::well && checked.health(1) == HealthState::unwell &&
             checked.health(2) == HealthState::unwell;
    }));
    observe::UpstreamSnapshot snapshot;
    checked.generation->upstreams[0].servers.read_snapshot(snapshot);
    REQUIRE(snapshot.servers[1].last_check);
    CHECK(snapshot.servers[1].last_check->detail == "404");
    moved.answer_checks_with(200);
    CHECK(checked.run_until([&] { return checked.health(1) == HealthState::well; }));
  }
  const std::string text = lines->str();
  const auto said = [&](const std::string& event, const std::string& server) {
    const auto at =
        text.find("\"event\":\"" + event + "\",\"upstream\":\"app\",\"server\":\"" + server + "\"");
    return at == std::string::npos ? std::string() : text.substr(at, text.find('\n', at) - at);
  };
  CHECK(said("health_check_passed", well.address()).empty());
  CHECK(said("health_check_failed", moved.address())
            .find("\"reason\":\"status\",\"detail\":\"404\"") != std::string::npos);
  CHECK_FALSE(said("health_check_passed", moved.address()).empty());
  CHECK(said("health_check_failed", refusing.address())
            .find("\"reason\":\"refused\",\"detail\":\"" + refusing.address() +
                  ": Connection refused\"") != std::string::npos);
}

TEST_CASE("a server that does not answer in time is unwell") {
  const FullBacklog silent;
  Checked checked({silent.address()}, 100ms, 50ms);
  checked.checks->start(checked.io);
  CHECK(checked.run_until([&] { return checked.results(0) >= 2; }));
  CHECK(checked.health(0) == HealthState::unwell);
}

}  // namespace spillway::proxy
