#include "simulate/model/servers_model.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <deque>
#include <set>

namespace spillway::simulate {
namespace {

using namespace std::chrono_literals;
using resilience::CallResult;
using Connected = ServersModel::Connected;

constexpr TimePoint kStart = TimePoint{} + 1h;

config::Upstream upstream_of(std::size_t servers) {
  config::Upstream upstream;
  for (std::size_t i = 0; i < servers; ++i) upstream.servers.push_back("h:" + std::to_string(i));
  return upstream;
}

bool always(std::size_t) { return true; }
bool never(std::size_t) { return false; }

}  // namespace

TEST_CASE("requests in flight spread over all servers") {
  const config::Upstream upstream = upstream_of(3);
  ServersModel model(upstream, 3, Random(1));
  std::set<std::uint32_t> asked;
  for (int i = 0; i < 3; ++i) {
    Request request;
    CHECK(model.connect(request, always, kStart) == Connected::yes);
    asked.insert(request.call.server);
  }
  CHECK(asked.size() == 3);
}

TEST_CASE("a server that refuses connections is passed over in the same attempt and ejected") {
  const config::Upstream upstream = upstream_of(2);
  ServersModel model(upstream, 2, Random(1));
  const auto only_second = [](std::size_t server) { return server == 1; };
  for (int i = 0; i < 20; ++i) {
    Request request;
    CHECK(model.connect(request, only_second, kStart) == Connected::yes);
    CHECK(request.call.server == 1);
    model.end(request, CallResult::success, kStart);
  }
  CHECK(model.ejected(kStart).contains(0));
  CHECK(model.retries() == 0);
}

TEST_CASE("what timed out keeps its slot, of several servers as many as are its server's part") {
  for (const std::size_t servers : {1u, 2u}) {
    CAPTURE(servers);
    const config::Upstream upstream = upstream_of(servers);
    ServersModel model(upstream, servers, Random(1));
    model.divide(8);
    std::deque<Request> requests(20);
    int kept = 0;
    for (Request& request : requests) {
      model.connect(request, always, kStart);
      model.end(request, CallResult::ignored, kStart);
      kept += model.linger(request, kStart) ? 1 : 0;
    }
    CHECK(kept == (servers == 1 ? 20 : 8));
    for (Request& request : requests) model.end_abandoned(request);
    model.connect(requests.front(), always, kStart);
    model.end(requests.front(), CallResult::ignored, kStart);
    CHECK(model.linger(requests.front(), kStart));
  }
}

TEST_CASE("a server that answers with errors is ejected and comes back") {
  const config::Upstream upstream = upstream_of(2);
  ServersModel model(upstream, 2, Random(1));
  for (int i = 0; i < 40; ++i) {
    Request request;
    model.connect(request, always, kStart);
    model.end(request, request.call.server == 0 ? CallResult::failure : CallResult::success,
              kStart);
  }
  CHECK(model.ejected(kStart) == resilience::ServerSet(1));
  CHECK(model.ejected(kStart + upstream.ejection.base).empty());
}

TEST_CASE("a request is sent again after a pause as far as the budget goes") {
  config::Upstream upstream = upstream_of(1);
  upstream.retries.budget_ratio = 0;
  upstream.retries.budget_per_second = 0.2;  // two in ten seconds
  ServersModel model(upstream, 1, Random(1));
  int retries = 0;
  for (int i = 0; i < 5; ++i) {
    Request request;
    model.begin(kStart);
    CHECK(model.connect(request, never, kStart) == Connected::refused);
    CHECK(request.call.was_refused);
    if (const auto pause = model.retry(request, kNever, kStart)) {
      CHECK(*pause > 0ms);
      ++retries;
      CHECK_FALSE(model.retry(request, kNever, kStart));  // attempts: 1
    }
  }
  CHECK(retries == 2);
}

TEST_CASE("an open circuit refuses without asking and there are none by default") {
  config::Upstream upstream = upstream_of(1);
  const auto fail_six_times = [&](ServersModel& model) {
    Connected last{};
    for (int i = 0; i < 6; ++i) {
      Request request;
      last = model.connect(request, always, kStart);
      model.end(request, CallResult::failure, kStart);
    }
    return last;
  };
  ServersModel plain(upstream, 1, Random(1));
  CHECK(fail_six_times(plain) == Connected::yes);
  upstream.circuit_breaker.emplace();
  ServersModel guarded(upstream, 1, Random(1));
  CHECK(fail_six_times(guarded) == Connected::circuits_open);
}

}  // namespace spillway::simulate
