#include "proxy/net/descriptor_limit.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

namespace spillway::proxy {
namespace {

// One upstream of 64 at a time with two servers, four workers: 128 + 32 of our own, 512 of pipes
// and 80 upstream connections.
constexpr std::uint64_t kNeeded = 752;
constexpr std::size_t kWorkers = 4;

config::Config sample() {
  config::Config config;
  config.upstreams.resize(1);
  config.upstreams[0].dispatch.concurrency = 64;
  config.upstreams[0].servers = {"127.0.0.1:1", "127.0.0.1:2"};
  config.limits.connections = 10'000;
  config.limits.tunnels = 0;
  config.limits.temp_file_bytes = 0;
  return config;
}

TEST_CASE("clients get the descriptors that are left over") {
  CHECK(affordable_within(kNeeded + 500, sample(), kWorkers).connections == 500);
  CHECK(affordable_within(1'000'000, sample(), kWorkers).connections == 10'000);
  CHECK(affordable_within(20, sample(), kWorkers).connections == 1);
}

// The process itself with four workers: 64.
TEST_CASE("where few descriptors are left clients get a fourth of all") {
  const auto connections = [](std::uint64_t open_files) {
    return affordable_within(open_files, sample(), kWorkers).connections;
  };
  CHECK(connections(64) == 1);
  CHECK(connections(128) == 16);
  CHECK(connections(256) == 48);
  CHECK(connections(kNeeded) == 172);
  for (std::uint64_t files = 1; files < 2000; ++files) {
    CAPTURE(files);
    CHECK(connections(files) <= connections(files + 1));
  }
  config::Config with_files = sample();
  with_files.limits.temp_file_bytes = 1;
  with_files.limits.tunnels = 1000;
  const Affordable few = affordable_within(256, with_files, kWorkers);
  CHECK(few.connections == 48);
  CHECK(few.temp_files == 48);
  CHECK(few.tunnels == 24);
}

TEST_CASE("the limit of open files that a configuration needs is the least that is enough") {
  config::Config config = sample();
  config.limits.temp_file_bytes = 1;
  config.limits.tunnels = 1000;
  for (const std::uint32_t connections : {10u, 100u, 10'000u}) {
    config.limits.connections = connections;
    const std::uint64_t needed = open_files_for_all(config, kWorkers);
    CHECK(affordable_within(needed, config, kWorkers).connections == connections);
    CHECK(affordable_within(needed - 1, config, kWorkers).connections < connections);
  }
}

TEST_CASE("a limit that is to be found leaves half to clients") {
  config::Config config = sample();
  config.upstreams[0].dispatch.concurrency = config::AutoConcurrency{};
  constexpr std::uint64_t kOthers = kNeeded - 64;
  CHECK(affordable_within(kOthers + 2000, config, kWorkers).connections == 1000);
  CHECK(affordable_within(kOthers + 5000, config, kWorkers).connections == 4000);
}

TEST_CASE("each tunnel takes a second descriptor, up to the limit of tunnels") {
  config::Config config = sample();
  config.limits.tunnels = 100;
  CHECK(affordable_within(kNeeded + 500, config, kWorkers).connections == 400);
  config.limits.tunnels = 1000;  // half of 333 clients may have one
  CHECK(affordable_within(kNeeded + 500, config, kWorkers).connections == 333);
}

TEST_CASE("half of the clients may have a tunnel, so that others are accepted") {
  config::Config config = sample();
  config.limits.tunnels = 1000;
  CHECK(affordable_within(kNeeded + 500, config, kWorkers).tunnels == 166);
  for (const std::uint64_t left : {600, 601, 602}) {  // no more descriptors than there are
    const Affordable both = affordable_within(kNeeded + left, config, kWorkers);
    CHECK(both.connections + both.tunnels <= left);
  }
  CHECK(affordable_within(1'000'000, config, kWorkers).tunnels == 1000);
  config.limits.connections = 500;
  CHECK(affordable_within(1'000'000, config, kWorkers).tunnels == 250);
  CHECK(affordable_within(20, config, kWorkers).tunnels == 1);
  config.limits.tunnels = 0;
  CHECK(affordable_within(1'000'000, config, kWorkers).tunnels == 0);
}

TEST_CASE("health checks take one descriptor a server and shadow mode one a client") {
  config::Config config = sample();
  config.upstreams[0].health_check.emplace();
  CHECK(affordable_within(kNeeded + 500, config, kWorkers).connections == 498);
  config.upstreams[0].overload.mode = config::Mode::shadow;
  CHECK(affordable_within(kNeeded + 1002, config, kWorkers).connections == 500);
}

TEST_CASE("temporary files get an eighth of what is left over, and clients the rest") {
  config::Config config = sample();
  CHECK(affordable_within(kNeeded + 800, config, kWorkers).temp_files == 0);
  config.limits.temp_file_bytes = 1;
  const Affordable few = affordable_within(kNeeded + 800, config, kWorkers);
  CHECK(few.temp_files == 100);
  CHECK(few.connections == 700);
  CHECK(affordable_within(1'000'000, config, kWorkers).temp_files ==
        10'000);  // one for each client
}

TEST_CASE("the soft limit of open files is raised to the hard one") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit lowered = before;
  lowered.rlim_cur = 100;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &lowered) == 0);
  affordable(sample(), kWorkers);
  rlimit after{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &after) == 0);
  CHECK(after.rlim_cur == before.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace spillway::proxy
