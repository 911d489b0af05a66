#include "observe/count/worker_metrics.hpp"

#include <doctest/doctest.h>

#include <string>

#include "unit/observe/sample.hpp"

namespace spillway::observe {
namespace {

TEST_CASE("a finished request counts once for its route and once for its upstream") {
  WorkerMetrics metrics(sample_config());
  metrics.finish(RouteId{1}, kP1, Outcome::forwarded);
  CHECK(metrics.finished(1, kP1, Outcome::forwarded) == 1);
  CHECK(metrics.finished_at(kReports, kP1, Outcome::forwarded) == 1);
  CHECK(metrics.finished_at(kApp, kP1, Outcome::forwarded) == 0);
  CHECK(metrics.finished(1, kP0, Outcome::forwarded) == 0);
  CHECK(metrics.finished(1, kP1, Outcome::denied) == 0);
  CHECK(metrics.finished(2, kP1, Outcome::forwarded) == 0);
}

TEST_CASE("routes beyond the thousandth share one place") {
  config::Config config = sample_config();
  config.routes.clear();
  for (int i = 0; i < 1500; ++i) config.routes.push_back(sample_route(std::to_string(i), kP0));
  WorkerMetrics metrics(config);
  metrics.finish(RouteId{999}, kP0, Outcome::forwarded);
  metrics.finish(RouteId{1000}, kP0, Outcome::forwarded);
  metrics.finish(RouteId{1499}, kP0, Outcome::forwarded);
  CHECK(metrics.finished(999, kP0, Outcome::forwarded) == 1);
  CHECK(metrics.finished(kMaxRouteLabels, kP0, Outcome::forwarded) == 2);
}

TEST_CASE("every status code has a place and nonsense shares one") {
  WorkerMetrics metrics(sample_config());
  for (const unsigned status : {0u, 99u, 100u, 200u, 599u, 600u, 4'000'000'000u}) {
    metrics.response(kP0, status);
  }
  const auto& counters = metrics.responses(kP0);
  CHECK(counters[0].value() == 1);
  CHECK(counters[100].value() == 1);
  CHECK(counters[499].value() == 1);
  CHECK(counters[WorkerMetrics::kOtherStatus].value() == 4);
}

TEST_CASE("each cache is counted for its own route") {
  config::Config config = sample_config();
  config.routes[2].cache.emplace();
  WorkerMetrics metrics(config);
  const RouteId other{2};
  for (std::size_t i = 0; i < kCacheResultCount; ++i) {
    for (std::size_t n = 0; n <= i; ++n) metrics.cache_lookup(kExport, static_cast<CacheResult>(i));
  }
  metrics.cache_refresh(kExport, CacheRefresh::no_room);
  metrics.cache_refresh(other, CacheRefresh::stored);
  CHECK(metrics.cache_lookups(kExport, CacheResult::fresh) == 1);
  CHECK(metrics.cache_lookups(kExport, CacheResult::bypass) == 5);
  CHECK(metrics.cache_lookups(other, CacheResult::bypass) == 0);
  CHECK(metrics.cache_refreshes(kExport, CacheRefresh::no_room) == 1);
  CHECK(metrics.cache_refreshes(kExport, CacheRefresh::stored) == 0);
  CHECK(metrics.cache_refreshes(other, CacheRefresh::stored) == 1);
}

TEST_CASE("gauges go up and down") {
  WorkerMetrics metrics(sample_config());
  metrics.gauges->client_connections.add();
  metrics.gauges->client_connections.add();
  metrics.gauges->client_connections.subtract();
  CHECK(metrics.gauges->client_connections.value() == 1);
  metrics.gauges->set_event_loop_lag(Milliseconds{7});
  CHECK(metrics.gauges->event_loop_lag() == Milliseconds{7});
}

}  // namespace
}  // namespace spillway::observe
