#include "proxy/own_answers.hpp"

#include <string>

namespace spillway::proxy {

OwnAnswers::OwnAnswers(const config::Config& config, traffic::SipKey key) : config_(config) {
  for (const config::Route& route : config.routes) {
    caches_.push_back(route.cache ? std::make_unique<degrade::ResponseCache>(*route.cache, key)
                                  : nullptr);
    has_cache_ = has_cache_ || route.cache;
    prepared_.push_back(route.fallback
                            ? std::make_unique<const degrade::PreparedAnswer>(*route.fallback)
                            : nullptr);
  }
}

void OwnAnswers::read_snapshot(std::vector<observe::CacheSnapshot>& caches) const {
  for (std::size_t i = 0; i < caches_.size(); ++i) {
    if (!caches_[i]) continue;
    const degrade::CacheCounts counts = caches_[i]->counts();
    caches.push_back({.route = RouteId(static_cast<std::uint32_t>(i)),
                      .bytes = counts.bytes,
                      .max_bytes = counts.max_bytes,
                      .entries = counts.entries,
                      .stores = counts.stores,
                      .evictions = counts.evictions,
                      .invalidations = counts.invalidations});
  }
}

PurgeResult OwnAnswers::purge(const PurgeRequest& what, TimePoint now) const {
  using Kind = PurgeRequest::Kind;
  PurgeResult result;
  if (what.kind == Kind::route) {
    result.unknown = "no route is named " + what.route;
    for (std::size_t i = 0; i < caches_.size(); ++i) {
      if (config_.routes[i].name != what.route) continue;
      if (!caches_[i]) return {.unknown = "route " + what.route + " has no cache"};
      result = {.purged = caches_[i]->purge({}, now)};
    }
    return result;
  }
  const std::string text = what.authority.empty()
                               ? what.path_and_query
                               : "http://" + what.authority + what.path_and_query;
  const degrade::Purge wanted{
      what.kind == Kind::key ? degrade::Purge::What::key : degrade::Purge::What::prefix, text};
  for (const auto& cache : caches_) {
    if (cache) result.purged += cache->purge(wanted, now);
  }
  return result;
}

}  // namespace spillway::proxy
