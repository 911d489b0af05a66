#include "proxy/own_answers.hpp"

#include <string>

namespace spillway::proxy {

namespace {

// What the whole configuration makes of a route's: the field that names a tenant is personal, and
// what trusted proxies say of a request, and pass on, tells answers apart.
config::Cache settings_of(const config::Cache& cache, const config::Config& config) {
  config::Cache settings = cache;
  if (!config.trusted_headers.tenant.empty())
    settings.personal.push_back(config.trusted_headers.tenant);
  if (!config.trusted_peers.empty()) {
    for (const char* name : {"X-Forwarded-Port", "X-Forwarded-Prefix"})
      settings.vary.emplace_back(name);
  }
  return settings;
}

}  // namespace

OwnAnswers::OwnAnswers(const config::Config& config, traffic::SipKey key) : config_(config) {
  for (const config::Route& route : config.routes) {
    caches_.push_back(route.cache ? std::make_unique<degrade::ResponseCache>(
                                        settings_of(*route.cache, config), key)
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
