#include "proxy/upstream/servers.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

namespace spillway::proxy {
namespace {

using observe::HealthCheckReason;
using observe::HealthCheckResult;
using resilience::Ejections;
using resilience::HealthState;
using resilience::ServerSet;

constexpr std::uint32_t kPlenty = 1'000'000;  // slots

// Ejects after two failures for longer than a test takes.
config::Upstream upstream_of(std::vector<std::string> names) {
  config::Upstream upstream;
  upstream.servers = std::move(names);
  upstream.ejection.consecutive_failures = 2;
  upstream.ejection.base = upstream.ejection.max = std::chrono::hours(1);
  upstream.health_check.emplace();
  upstream.health_check->healthy_after = upstream.health_check->unhealthy_after = 1;
  return upstream;
}

ServerSet chosen(Servers& servers, ServerSet among) {
  Random random(1);
  ServerSet result;
  for (std::uint64_t turn = 0; turn < 64; ++turn)
    result.insert(servers.choose(among, turn, random, kPlenty));
  return result;
}

void eject(Servers& servers, std::size_t server) {
  CHECK(servers.record(server, true) == Ejections::Change::none);
  CHECK(servers.record(server, true) == Ejections::Change::ejected);
}

}  // namespace

TEST_CASE("servers that are up are chosen, the others when none is") {
  const config::Upstream upstream = upstream_of({"a:1", "b:1", "c:1", "d:1"});
  Servers servers(upstream);
  CHECK(chosen(servers, servers.all()) == servers.all());
  eject(servers, 0);
  CHECK(servers.record_check(1, {HealthCheckReason::timeout, {}}));
  CHECK(servers.up() == ServerSet(0b1100));
  CHECK(chosen(servers, servers.all()) == ServerSet(0b1100));
  CHECK(chosen(servers, ServerSet(0b0111)) == ServerSet(0b0100));
  CHECK(chosen(servers, ServerSet(0b0011)) == ServerSet(0b0011));
  CHECK(chosen(servers, ServerSet(0b0001)) == ServerSet(0b0001));
}

TEST_CASE("the server with the least in flight over all workers is chosen") {
  const config::Upstream upstream = upstream_of({"a:1", "b:1"});
  Servers servers(upstream);
  std::thread elsewhere([&] { servers.in_flight.begin(0); });
  elsewhere.join();
  CHECK(chosen(servers, servers.all()) == ServerSet(0b10));
  servers.in_flight.begin(1);
  CHECK(chosen(servers, servers.all()) == servers.all());
}

TEST_CASE(
    "a server that is lost leaves the others their parts, and one that returns has one slot") {
  config::Upstream upstream = upstream_of({"a:1", "b:1"});
  upstream.ejection.base = upstream.ejection.max = Milliseconds{1};
  Servers servers(upstream);
  CHECK(servers.is_whole());
  CHECK(servers.usable(9) == 9);
  servers.in_flight.begin(0);
  CHECK(servers.record_check(0, {HealthCheckReason::refused, {}}));
  CHECK_FALSE(servers.is_whole());
  CHECK(servers.usable(9) == 5);  // one is still in flight there
  servers.in_flight.end(0, 0);
  CHECK(servers.usable(9) == 4);
  CHECK(servers.record_check(1, {HealthCheckReason::refused, {}}));
  CHECK(servers.usable(9) == 9);  // none is up
  CHECK(servers.record_check(0, {HealthCheckReason::success, {}}));
  CHECK(servers.record_check(1, {HealthCheckReason::success, {}}));
  CHECK(servers.usable(9) == 9);
  // An ejected one is on trial when it is back, until its first success.
  eject(servers, 1);
  CHECK(servers.usable(9) <= 6);
  const TimePoint began = Clock::now();
  while (servers.up() != servers.all() && Clock::now() - began < std::chrono::seconds(10))
    std::this_thread::yield();
  CHECK(servers.usable(9) == 6);
  CHECK(servers.record(1, false) == Ejections::Change::back);
  CHECK(servers.usable(9) == 9);
}

TEST_CASE("a response from before its ejection keeps no server from its trial") {
  config::Upstream upstream = upstream_of({"a:1", "b:1"});
  Servers servers(upstream);
  resilience::InFlightCounts& flying = servers.in_flight;
  const auto former = flying.begin(1);
  eject(servers, 1);
  CHECK(servers.usable(8) == 5);
  const auto others = flying.begin(0);
  CHECK(servers.record_check(1, {HealthCheckReason::refused, {}}));
  CHECK(servers.record_check(1, {HealthCheckReason::success, {}}));  // which ends its ejection
  CHECK(servers.rotation().on_trial == ServerSet(0b10));
  CHECK(servers.usable(8) == 6);
  CHECK(chosen(servers, servers.all()) == ServerSet(0b10));
  const auto trial = flying.begin(1);
  CHECK(servers.usable(8) == 6);
  CHECK(chosen(servers, servers.all()) == ServerSet(0b01));
  flying.end(1, former);
  CHECK(servers.usable(8) == 5);
  CHECK(chosen(servers, servers.all()) == ServerSet(0b01));
  flying.end(1, trial);
  flying.end(0, others);
  CHECK(flying.of(1).all == 0);
  CHECK(flying.of(1).former == 0);
}

TEST_CASE("where servers have weights their parts of the slots follow these") {
  const config::Upstream upstream = upstream_of({"a:1", "b:1"});
  Servers servers(upstream);
  servers.share(std::vector<double>{1, 3});
  CHECK(servers.usable(8) == 8);
  for (int n = 0; n < 2; ++n) servers.in_flight.begin(0);
  for (int n = 0; n < 5; ++n) servers.in_flight.begin(1);
  Random random(1);
  CHECK(servers.choose(servers.all(), 0, random, 8) == 1);
  CHECK(servers.choose(servers.all(), 1, random, 8) == 1);
  servers.in_flight.begin(0);
  CHECK(servers.is_above_part(0, 8));
  CHECK_FALSE(servers.is_above_part(1, 8));
  CHECK(servers.record_check(0, {HealthCheckReason::refused, {}}));
  CHECK(servers.usable(16) == 15);  // three are still in flight at the lost one
  CHECK(servers.elsewhere(16) == 3);
  servers.count_success(1);
  CHECK(servers.in_flight.succeeded(1) == 1);
  CHECK(servers.in_flight.succeeded(0) == 0);
}

TEST_CASE("in shadow mode a lost server has no more in flight than its part") {
  for (const config::Mode mode : {config::Mode::enforce, config::Mode::shadow}) {
    config::Upstream upstream = upstream_of({"a:1", "b:1"});
    upstream.overload.mode = mode;
    Servers servers(upstream);
    for (int n = 0; n < 7; ++n) servers.in_flight.begin(1);
    CHECK(servers.record_check(1, {HealthCheckReason::refused, {}}));
    const bool is_shadow = mode == config::Mode::shadow;
    CHECK(servers.elsewhere(8) == (is_shadow ? 4 : 7));
    CHECK(servers.usable(20) == 17);
    for (int n = 0; n < 4; ++n) servers.in_flight.end(1, 0);
    CHECK(servers.elsewhere(8) == 3);
  }
}

TEST_CASE("the server with room in its part is chosen, and any if none has") {
  const config::Upstream upstream = upstream_of({"a:1", "b:1"});
  Servers servers(upstream);
  const auto choose = [&](std::uint32_t slots) {
    Random random(1);
    return servers.choose(servers.all(), 0, random, slots);
  };
  for (int n = 0; n < 2; ++n) servers.in_flight.begin(1);
  CHECK(choose(5) == 0);  // three and two
  servers.in_flight.begin(0);
  servers.in_flight.begin(0);
  CHECK(choose(5) == 0);
  CHECK_FALSE(servers.is_above_part(1, 5));
  servers.in_flight.begin(1);
  CHECK(servers.is_above_part(1, 5));
  CHECK_FALSE(servers.is_above_part(1, 6));
}

TEST_CASE("a success between failures and successes of others keep a server in") {
  const config::Upstream upstream = upstream_of({"a:1", "b:1"});
  Servers servers(upstream);
  for (int n = 0; n < 10; ++n) {
    CHECK(servers.record(0, true) == Ejections::Change::none);
    CHECK(servers.record(0, false) == Ejections::Change::none);
  }
  CHECK(servers.up() == servers.all());
  CHECK(servers.record(0, true) == Ejections::Change::none);
  CHECK(servers.record(1, false) == Ejections::Change::none);
  CHECK(servers.record(0, true) == Ejections::Change::ejected);
}

TEST_CASE("an ejection ends by itself") {
  config::Upstream upstream = upstream_of({"a:1", "b:1"});
  upstream.ejection.base = upstream.ejection.max = Milliseconds{1};
  Servers servers(upstream);
  eject(servers, 0);
  const TimePoint began = Clock::now();
  while (servers.up() != servers.all() && Clock::now() - began < std::chrono::seconds(10))
    std::this_thread::yield();
  CHECK(servers.up() == servers.all());
  CHECK(servers.record(0, false) == Ejections::Change::back);
}

TEST_CASE("the results of a server that can never be ejected are not recorded") {
  CHECK_FALSE(Servers(upstream_of({"a:1"})).ejection_enabled());
  CHECK(Servers(upstream_of({"a:1", "b:1"})).ejection_enabled());
  config::Upstream off = upstream_of({"a:1", "b:1"});
  off.ejection.consecutive_failures = 0;
  CHECK_FALSE(Servers(off).ejection_enabled());
}

TEST_CASE("a skipped check says nothing and one that turns a server well ends its ejection") {
  const config::Upstream upstream = upstream_of({"a:1", "b:1"});
  Servers servers(upstream);
  CHECK_FALSE(servers.record_check(0, {HealthCheckReason::skipped, {}}));
  CHECK(servers.record_check(0, {HealthCheckReason::success, {}}));
  eject(servers, 0);
  CHECK_FALSE(servers.record_check(0, {HealthCheckReason::success, {}}));
  CHECK(servers.up() == ServerSet(0b10));
  CHECK(servers.record_check(0, {HealthCheckReason::refused, {}}));
  CHECK(servers.record_check(0, {HealthCheckReason::success, {}}));
  CHECK(servers.up() == servers.all());
}

TEST_CASE("what was known of a server goes over to the next configuration by its name") {
  const config::Upstream before = upstream_of({"a:1", "b:1", "c:1", "d:1"});
  Servers old(before);
  eject(old, 0);
  old.record_check(1, {HealthCheckReason::refused, {}});
  old.record_check(2, {HealthCheckReason::success, {}});
  const config::Upstream after = upstream_of({"e:1", "c:1", "b:1", "a:1"});
  Servers next(after);
  next.adopt(old);
  CHECK(next.up() == ServerSet(0b0011));
  observe::UpstreamSnapshot snapshot;
  next.read_snapshot(snapshot);
  CHECK(snapshot.servers[0].health == HealthState::unknown);
  CHECK(snapshot.servers[1].health == HealthState::well);
  CHECK(snapshot.servers[2].health == HealthState::unwell);
  CHECK(snapshot.servers[3].ejected_for > std::chrono::minutes(59));
  CHECK(snapshot.servers[3].ejections == 0);  // of the former configuration's count
  CHECK(snapshot.servers[2].checks[index(HealthCheckResult::failure)] == 0);

  // Without checks nothing would ever make it well again.
  config::Upstream unchecked = after;
  unchecked.health_check.reset();
  Servers without(unchecked);
  without.adopt(old);
  CHECK(without.health(2) == HealthState::unknown);

  // Without ejection nothing would ever end a trial.
  config::Upstream spares_all = after;
  spares_all.ejection.consecutive_failures = 0;
  Servers unbiased(spares_all);
  unbiased.adopt(old);
  CHECK(unbiased.rotation().in.contains(3));
  CHECK(unbiased.rotation().on_trial.empty());
}

TEST_CASE("of failures of one kind and server one in ten seconds is told with how many were not") {
  using observe::ServerFailure;
  const config::Upstream upstream = upstream_of({"a:1", "b:1"});
  Servers servers(upstream);
  const TimePoint start = TimePoint{} + std::chrono::hours(1);
  CHECK(servers.count_failure(0, ServerFailure::reset, start) == 0);
  for (int n = 0; n < 500; ++n)
    CHECK_FALSE(servers.count_failure(0, ServerFailure::reset, start + Milliseconds{n}));
  // Neither another kind nor another server has to wait for that.
  CHECK(servers.count_failure(0, ServerFailure::refused, start) == 0);
  CHECK(servers.count_failure(1, ServerFailure::reset, start) == 0);
  CHECK_FALSE(servers.count_failure(0, ServerFailure::reset, start + Milliseconds{9'900}));
  CHECK(servers.count_failure(0, ServerFailure::reset, start + Milliseconds{10'100}) == 501);
  CHECK_FALSE(servers.count_failure(0, ServerFailure::reset, start + Milliseconds{10'200}));

  observe::UpstreamSnapshot snapshot;
  servers.read_snapshot(snapshot);
  CHECK(snapshot.servers[0].failures[index(ServerFailure::reset)] == 504);
  CHECK(snapshot.servers[0].failures[index(ServerFailure::refused)] == 1);
  CHECK(snapshot.servers[0].failures_in_a_row == 505);
  CHECK(snapshot.servers[1].failures_in_a_row == 1);
  servers.count_success(0);
  servers.read_snapshot(snapshot);
  CHECK(snapshot.servers[0].failures_in_a_row == 0);
  CHECK(snapshot.servers[1].failures_in_a_row == 1);
}

TEST_CASE("many threads count what is in flight and nothing is lost") {
  const config::Upstream upstream = upstream_of({"a:1", "b:1", "c:1"});
  Servers servers(upstream);
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&servers, seed] {
      Random random(seed);
      for (std::uint64_t turn = 0; turn < 20'000; ++turn) {
        const std::size_t server = servers.choose(servers.all(), turn, random, kPlenty);
        const auto trial = servers.in_flight.begin(server);
        servers.record(server, random.uniform() < 0.1);
        servers.in_flight.end(server, trial);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::size_t server : {0, 1, 2}) CHECK(servers.in_flight[server] == 0);
}

}  // namespace spillway::proxy
