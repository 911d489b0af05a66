#include "observe/cache_families.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "observe/metric_family.hpp"

namespace spillway::observe {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

// What one route label shows.
struct Row {
  std::array<std::uint64_t, kCacheLookupCount> lookups{};
  std::array<std::uint64_t, kCacheRefreshCount> refreshes{};
  CacheSnapshot cache;
};

// Routes of one label are added up: two samples with the same labels would void the page.
using Rows = std::map<std::string_view, Row>;

Rows rows(const config::Config& config, Workers workers, const Snapshot& snapshot) {
  Rows result;
  const auto row = [&](RouteId route) -> Row& {
    return result[index(route) < kMaxRouteLabels
                      ? std::string_view(config.routes[index(route)].name)
                      : "other"];
  };
  for (std::size_t r = 0; r < config.routes.size(); ++r) {
    if (!config.routes[r].cache) continue;
    const RouteId route{static_cast<std::uint32_t>(r)};
    Row& to = row(route);
    for (const WorkerMetrics* worker : workers) {
      for (std::size_t i = 0; i < kCacheLookupCount; ++i)
        to.lookups[i] += worker->cache_lookups(route, static_cast<CacheLookup>(i));
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

// One counter a route and result.
template <class Result, std::size_t N>
MetricFamily by_result(std::string name, std::string help, const Rows& rows,
                       std::array<std::uint64_t, N> Row::*counts) {
  MetricFamily result = family(std::move(name), MetricType::Counter, std::move(help));
  for (const auto& [route, row] : rows) {
    for (std::size_t i = 0; i < N; ++i) {
      add_counter(result,
                  {{"route", std::string(route)},
                   {"result", std::string(observe::name(static_cast<Result>(i)))}},
                  static_cast<double>((row.*counts)[i]));
    }
  }
  return result;
}

MetricFamily counter(std::string name, std::string help, const Rows& rows,
                     std::uint64_t CacheSnapshot::*member) {
  MetricFamily result = family(std::move(name), MetricType::Counter, std::move(help));
  for (const auto& [route, row] : rows)
    add_counter(result, {{"route", std::string(route)}}, static_cast<double>(row.cache.*member));
  return result;
}

MetricFamily gauge(std::string name, std::string help, const Rows& rows,
                   std::uint64_t CacheSnapshot::*member) {
  MetricFamily result = family(std::move(name), MetricType::Gauge, std::move(help));
  for (const auto& [route, row] : rows)
    add_gauge(result, {{"route", std::string(route)}}, static_cast<double>(row.cache.*member));
  return result;
}

}  // namespace

std::vector<MetricFamily> cache_families(const config::Config& config, Workers workers,
                                         const Snapshot& snapshot) {
  const Rows by_route = rows(config, workers, snapshot);
  return {
      by_result<CacheLookup>(
          "spillway_cache_lookups_total",
          "Requests on routes with a cache by what it did for them: answered fresh or stale from "
          "the store, collapsed into another request's answer, miss, or bypass (not asked).",
          by_route, &Row::lookups),
      by_result<CacheRefresh>(
          "spillway_cache_refreshes_total",
          "Requests to the upstream on behalf of the store, by what came of them; no_room ones "
          "were not sent because no slot was free at once.",
          by_route, &Row::refreshes),
      counter("spillway_cache_stores_total", "Answers stored or renewed.", by_route,
              &CacheSnapshot::stores),
      counter("spillway_cache_evictions_total",
              "Stored answers that had to make room. Many beside few hits: max_bytes is small.",
              by_route, &CacheSnapshot::evictions),
      counter("spillway_cache_invalidations_total",
              "URIs whose stored answers a POST, PUT or the like made void.", by_route,
              &CacheSnapshot::invalidations),
      gauge("spillway_cache_bytes", "Memory that the cache takes now, all that belongs to it.",
            by_route, &CacheSnapshot::bytes),
      gauge("spillway_cache_max_bytes", "What spillway_cache_bytes may reach.", by_route,
            &CacheSnapshot::max_bytes),
      gauge("spillway_cache_entries", "Answers stored now.", by_route, &CacheSnapshot::entries),
  };
}

}  // namespace spillway::observe
