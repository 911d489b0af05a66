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
  CHECK(affordable_within(kNeeded, sample(), kWorkers).connections == 1);
  CHECK(affordable_within(20, sample(), kWorkers).connections == 1);
}

TEST_CASE("a limit that is to be found leaves half to clients") {
  config::Config config = sample();
  config.upstreams[0].dispatch.concurrency = config::AutoConcurrency{};
  constexpr std::uint64_t kOthers = kNeeded - 64;
  CHECK(affordable_within(kOthers + 500, config, kWorkers).connections == 250);
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
  for (const std::uint64_t left : {10, 11, 12}) {  // no more descriptors than there are
    const Affordable both = affordable_within(kNeeded + left, config, kWorkers);
    CHECK(both.connections + both.tunnels <= left);
  }
  CHECK(affordable_within(1'000'000, config, kWorkers).tunnels == 1000);
  config.limits.connections = 500;
  CHECK(affordable_within(1'000'000, config, kWorkers).tunnels == 250);
  CHECK(affordable_within(kNeeded, config, kWorkers).tunnels == 1);
  config.limits.tunnels = 0;
  CHECK(affordable_within(1'000'000, config, kWorkers).tunnels == 0);
}

TEST_CASE("health checks take one descriptor a server and shadow mode one a client") {
  config::Config config = sample();
  config.upstreams[0].health_check.emplace();
  CHECK(affordable_within(kNeeded + 500, config, kWorkers).connections == 498);
  config.upstreams[0].overload.mode = config::Mode::shadow;
  CHECK(affordable_within(kNeeded + 502, config, kWorkers).connections == 250);
}

TEST_CASE("temporary files get an eighth of what is left over, and clients the rest") {
  config::Config config = sample();
  CHECK(affordable_within(kNeeded + 800, config, kWorkers).temp_files == 0);
  config.limits.temp_file_bytes = 1;
  const Affordable few = affordable_within(kNeeded + 800, config, kWorkers);
  CHECK(few.temp_files == 100);
  CHECK(few.connections == 700);
  CHECK(affordable_within(kNeeded, config, kWorkers).temp_files == 0);
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
