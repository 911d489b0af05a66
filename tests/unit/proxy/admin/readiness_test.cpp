#include "proxy/admin/readiness.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "support/full_backlog.hpp"
#include "support/mortal_server.hpp"
#include "support/proxy_under_test.hpp"
#include "support/scripted_peer.hpp"

namespace spillway::proxy {
namespace {

using namespace std::chrono_literals;
using support::FullBacklog;
using support::MortalServer;
using support::RefusingPort;

// Two upstreams, of which requests could connect to none lately.
struct Down {
  Down(const std::vector<std::string>& first, const std::vector<std::string>& second)
      : read(look_up_servers(support::checked(
            {{"upstreams",
              {{{"name", "one"}, {"servers", first}}, {{"name", "two"}, {"servers", second}}}}}))),
        generation(std::move(*read.config), std::move(read.endpoints), Lineage{}) {
    for (Upstream& upstream : generation.upstreams) upstream.reachable = false;
  }

  ReadConfiguration read;
  Generation generation;
};

Duration time_of(Readiness& readiness, Generation& generation, std::string_view wanted) {
  const TimePoint began = Clock::now();
  CHECK(readiness.why_not(generation) == wanted);
  return Clock::now() - began;
}

constexpr std::string_view kNone = "no live upstream";

}  // namespace

TEST_CASE("servers that do not answer are asked together and not again for a while") {
  const std::array<FullBacklog, 12> silent{};
  std::vector<std::string> all;
  for (const FullBacklog& server : silent) all.push_back(server.address());
  Down down(all, all);
  Readiness readiness;
  const Duration first = time_of(readiness, down.generation, kNone);
  CHECK(first >= Readiness::kPatience);
  CHECK(first < 5 * Readiness::kPatience);  // one after the other: 24 times as long
  CHECK(time_of(readiness, down.generation, kNone) < Readiness::kPatience / 2);
  for (const Upstream& upstream : down.generation.upstreams)
    CHECK(upstream.connections.open() == 0);
}

TEST_CASE("one server that is back makes ready whoever else is silent or refuses") {
  const FullBacklog silent;
  const RefusingPort refusing;
  const MortalServer back;
  Down down({silent.address(), refusing.address()},
            {refusing.address(), silent.address(), back.address()});
  Readiness readiness;
  CHECK(time_of(readiness, down.generation, "") < Readiness::kPatience);
  CHECK_FALSE(down.generation.upstreams[0].is_live());
  CHECK(down.generation.upstreams[1].is_live());
  CHECK(down.generation.upstreams[1].connections.open() == 0);
  CHECK(time_of(readiness, down.generation, "") < Readiness::kPatience);
}

TEST_CASE("where all refuse that is known at once") {
  const RefusingPort refusing;
  Down down({refusing.address()}, {refusing.address()});
  Readiness readiness;
  CHECK(time_of(readiness, down.generation, kNone) < Readiness::kPatience);
}

TEST_CASE("of very many servers others are asked each time") {
  const std::array<RefusingPort, Readiness::kMostAsked> refusing{};
  const MortalServer last;
  std::vector<std::string> many;
  for (const RefusingPort& server : refusing) many.push_back(server.address());
  Down down(many, {last.address()});
  Readiness readiness;
  CHECK(readiness.why_not(down.generation) == kNone);  // the last was not among the first 64
  const support::Deadline deadline;
  while (!readiness.why_not(down.generation).empty() && !deadline.passed()) {
  }
  CHECK(down.generation.upstreams[1].is_live());
}

TEST_CASE("a server that its health checks find unwell is not asked") {
  const MortalServer unwell;
  Down down({unwell.address()}, {unwell.address()});
  for (Upstream& upstream : down.generation.upstreams) {
    while (!upstream.servers.up().empty())
      upstream.servers.checked(0, observe::HealthCheckResult::failure);
  }
  Readiness readiness;
  CHECK(readiness.why_not(down.generation) == kNone);
  CHECK(unwell.accepted() == 0);
}

}  // namespace spillway::proxy
