#include "proxy/admin/readiness.hpp"

#include <doctest/doctest.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
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
      : read(resolve_servers(support::checked(
            {{"upstreams",
              {{{"name", "one"}, {"servers", first}}, {{"name", "two"}, {"servers", second}}}}}))),
        generation(std::make_shared<Generation>(std::move(*read.config), std::move(read.endpoints),
                                                ProcessContext{})) {
    for (Upstream& upstream : generation->upstreams) upstream.reachable = false;
  }

  ReadConfiguration read;
  std::shared_ptr<Generation> generation;
};

std::string_view reason_of(Readiness& readiness, const std::shared_ptr<Generation>& generation) {
  boost::asio::io_context io;
  auto reason =
      boost::asio::co_spawn(io, readiness.not_ready_reason(generation), boost::asio::use_future);
  io.run();
  return reason.get();
}

Duration time_of(Readiness& readiness, const std::shared_ptr<Generation>& generation,
                 std::string_view wanted) {
  const TimePoint began = Clock::now();
  CHECK(reason_of(readiness, generation) == wanted);
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
  CHECK(first >= Readiness::kProbeTimeout);
  CHECK(first < 5 * Readiness::kProbeTimeout);  // one after the other: 24 times as long
  CHECK(time_of(readiness, down.generation, kNone) < Readiness::kProbeTimeout / 2);
  for (const Upstream& upstream : down.generation->upstreams)
    CHECK(upstream.connections.open() == 0);
}

TEST_CASE("one server that is back makes ready whoever else is silent or refuses") {
  const FullBacklog silent;
  const RefusingPort refusing;
  const MortalServer back;
  Down down({silent.address(), refusing.address()},
            {refusing.address(), silent.address(), back.address()});
  Readiness readiness;
  CHECK(time_of(readiness, down.generation, "") < Readiness::kProbeTimeout);
  CHECK_FALSE(down.generation->upstreams[0].is_live());
  CHECK(down.generation->upstreams[1].is_live());
  CHECK(down.generation->upstreams[1].connections.open() == 0);
  CHECK(time_of(readiness, down.generation, "") < Readiness::kProbeTimeout);
}

TEST_CASE("questions at the same time share one round of probes and its result") {
  const FullBacklog silent;
  const MortalServer back;
  for (const bool is_back : {false, true}) {
    CAPTURE(is_back);
    Down down({silent.address()}, {is_back ? back.address() : silent.address()});
    Readiness readiness;
    boost::asio::io_context io;
    std::vector<std::future<std::string_view>> reasons;
    for (int n = 0; n < 3; ++n) {
      reasons.push_back(boost::asio::co_spawn(io, readiness.not_ready_reason(down.generation),
                                              boost::asio::use_future));
    }
    io.run();
    for (auto& reason : reasons) CHECK(reason.get() == (is_back ? "" : kNone));
  }
  const support::Deadline deadline;
  while (back.accepted() == 0 && !deadline.passed()) std::this_thread::yield();
  CHECK(back.accepted() == 1);
}

TEST_CASE("a round that is abandoned gives its connections back") {
  const FullBacklog silent;
  Down down({silent.address()}, {silent.address()});
  Readiness readiness;
  {
    boost::asio::io_context io;
    boost::asio::co_spawn(io, readiness.not_ready_reason(down.generation),
                          [](const std::exception_ptr&, std::string_view) {});
    io.poll();
    CHECK(down.generation->upstreams[0].connections.open() == 1);
  }
  for (const Upstream& upstream : down.generation->upstreams)
    CHECK(upstream.connections.open() == 0);
  CHECK(down.generation.use_count() == 1);
}

TEST_CASE("where all refuse that is known at once") {
  const RefusingPort refusing;
  Down down({refusing.address()}, {refusing.address()});
  Readiness readiness;
  CHECK(time_of(readiness, down.generation, kNone) < Readiness::kProbeTimeout);
}

TEST_CASE("of very many servers others are asked each time") {
  const std::array<RefusingPort, Readiness::kMaxProbes> refusing{};
  const MortalServer last;
  std::vector<std::string> many;
  for (const RefusingPort& server : refusing) many.push_back(server.address());
  Down down(many, {last.address()});
  Readiness readiness;
  CHECK(reason_of(readiness, down.generation) == kNone);  // the last was not among the first 64
  const support::Deadline deadline;
  while (!reason_of(readiness, down.generation).empty() && !deadline.passed()) {
  }
  CHECK(down.generation->upstreams[1].is_live());
}

TEST_CASE("each address of a server is asked") {
  const RefusingPort refusing;
  const MortalServer well;
  Down down({refusing.address()}, {refusing.address()});
  down.generation->upstreams[1].endpoints[0].addresses.push_back(
      resolve(well.address()).addresses[0]);
  Readiness readiness;
  CHECK(reason_of(readiness, down.generation).empty());
}

TEST_CASE("a server that its health checks find unwell is not asked") {
  const MortalServer unwell;
  Down down({unwell.address()}, {unwell.address()});
  for (Upstream& upstream : down.generation->upstreams) {
    while (!upstream.servers.up().empty())
      upstream.servers.record_check(0, {observe::HealthCheckReason::refused, {}});
  }
  Readiness readiness;
  CHECK(reason_of(readiness, down.generation) == kNone);
  CHECK(unwell.accepted() == 0);
}

}  // namespace spillway::proxy
