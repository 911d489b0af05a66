// The section of /metrics on response caches.
#include <array>
#include <cstdint>
#include <map>
#include <string_view>

#include "observe/count/retry_result.hpp"
#include "observe/metrics/families.hpp"

namespace spillway::observe {
namespace {

using prometheus::MetricFamily;

// The values shown for one route label.
struct CacheRow {
  std::array<std::uint64_t, kCacheResultCount> lookups{};
  std::array<std::uint64_t, kCacheRefreshCount> refreshes{};
  CacheSnapshot cache;
};

// Routes with the same label are added up: two samples with equal labels make the page invalid.
using Rows = std::map<std::string_view, CacheRow>;

Rows rows(const config::Config& config, Workers workers, const Snapshot& snapshot) {
  Rows result;
  const auto row = [&](RouteId route) -> CacheRow& {
    return result[index(route) < kMaxRouteLabels
                      ? std::string_view(config.routes[index(route)].name)
                      : "other"];
  };
  for (std::size_t r = 0; r < config.routes.size(); ++r) {
    if (!config.routes[r].cache) continue;
    const RouteId route{static_cast<std::uint32_t>(r)};
    CacheRow& to = row(route);
    for (const WorkerMetrics* worker : workers) {
      for (std::size_t i = 0; i < kCacheResultCount; ++i)
        to.lookups[i] += worker->cache_lookups(route, static_cast<CacheResult>(i));
      for (std::size_t i = 0; i < kCacheRefreshCount; ++i)
        to.refreshes[i] += worker->cache_refreshes(route, static_cast<CacheRefresh>(i));
    }
  }
  for (const CacheSnapshot& each : snapshot.caches) {
    CacheSnapshot& to = row(each.route).cache;
    to.bytes += each.bytes;
    to.max_bytes += each.max_bytes;
    to.entries += each.entries;
    to.stores += each.stores;
    to.evictions += each.evictions;
    to.invalidations += each.invalidations;
  }
  return result;
}

// One sample for each route.
MetricFamily by_route(MetricFamily result, const Rows& rows, std::uint64_t CacheSnapshot::*member) {
  for (const auto& [route, row] : rows) {
    add_sample(result, {label("route", route)}, row.cache.*member);
  }
  return result;
}

// One sample for each route and result.
template <class Result, std::size_t N>
MetricFamily by_result(MetricFamily result, const Rows& rows,
                       std::array<std::uint64_t, N> CacheRow::*counts) {
  for (const auto& [route, row] : rows) {
    for (std::size_t i = 0; i < N; ++i) {
      add_sample(result, {label("route", route), label("result", name(static_cast<Result>(i)))},
                 (row.*counts)[i]);
    }
  }
  return result;
}

}  // namespace

Families cache_families(const config::Config& config, Workers workers, const Snapshot& snapshot) {
  using Cache = CacheSnapshot;
  const Rows routes = rows(config, workers, snapshot);
  return {
      by_result<CacheResult>(
          counter("spillway_cache_lookups_total",
                  "Requests on routes with a cache by what it did for them: answered fresh or "
                  "stale from the store, collapsed into another request's answer, miss, or bypass "
                  "(not asked)."),
          routes, &CacheRow::lookups),
      by_result<CacheRefresh>(
          counter("spillway_cache_refreshes_total",
                  "Requests to the upstream on behalf of the store, by what came of them; no_room "
                  "ones were not sent because no slot was free at once."),
          routes, &CacheRow::refreshes),
      by_route(counter("spillway_cache_stores_total", "Answers stored or renewed."), routes,
               &Cache::stores),
      by_route(counter("spillway_cache_evictions_total",
                       "Cached responses that had to make room. Many beside few hits: max_bytes is "
                       "small."),
               routes, &Cache::evictions),
      by_route(counter("spillway_cache_invalidations_total",
                       "URIs whose cached responses a POST, PUT or the like made void."),
               routes, &Cache::invalidations),
      by_route(
          gauge("spillway_cache_bytes", "Memory that the cache takes now, all that belongs to it."),
          routes, &Cache::bytes),
      by_route(gauge("spillway_cache_max_bytes", "What spillway_cache_bytes may reach."), routes,
               &Cache::max_bytes),
      by_route(gauge("spillway_cache_entries", "Answers stored now."), routes, &Cache::entries),
  };
}

MetricFamily retries(const config::Config& config, Workers workers) {
  MetricFamily result =
      counter("spillway_retries_total",
              "Requests sent to an upstream again: sent counts attempts, success requests that one "
              "of them got an answer for, no_budget those that failed for lack of a budget or, "
              "deferred, were put off, stale fresh connections in place of a kept one that was "
              "closed.");
  for (std::size_t u = 0; u < config.upstreams.size(); ++u) {
    for (std::size_t r = 0; r < kRetryResultCount; ++r) {
      const auto retry = static_cast<RetryResult>(r);
      add_sample(result,
                 {label("upstream", config.upstreams[u].name), label("result", name(retry))},
                 sum(workers, [&](const WorkerMetrics& worker) {
                   return worker.retries(UpstreamId(static_cast<std::uint16_t>(u)), retry);
                 }));
    }
  }
  return result;
}

}  // namespace spillway::observe
