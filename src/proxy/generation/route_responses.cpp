#include "proxy/generation/route_responses.hpp"

#include <algorithm>
#include <string>

#include "config/named_tenants.hpp"
#include "config/same_route.hpp"

namespace spillway::proxy {

namespace {

// The route's settings plus what the rest of the configuration implies: fields that name a tenant
// or a user make a response personal.
config::Cache effective_settings(const config::Cache& cache, const config::Config& config) {
  config::Cache settings = cache;
  if (!config.trusted_headers.tenant.empty())
    settings.personal.push_back(config.trusted_headers.tenant);
  if (!config.trusted_headers.user.empty())
    settings.personal.push_back(config.trusted_headers.user);
  if (config.trusted_tokens.jwt && config.trusted_tokens.jwt->cookie.empty())
    settings.personal.push_back(config.trusted_tokens.jwt->header);
  return settings;
}

// Whether each key has the same owner; the tiers may differ.
bool same_owners(const std::vector<config::ApiKey>& one, const std::vector<config::ApiKey>& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const config::ApiKey& a, const config::ApiKey& b) {
                      return config::tenant_of(a) == config::tenant_of(b) &&
                             config::digest_of(a) == config::digest_of(b);
                    });
}

// Cached responses depend on how clients are identified and which peers are trusted.
bool identifies_clients_alike(const config::Config& one, const config::Config& other) {
  return one.trusted_peers == other.trusted_peers && one.trusted_headers == other.trusted_headers &&
         one.tenants.key == other.tenants.key &&
         same_owners(one.tenants.api_keys, other.tenants.api_keys);
}

}  // namespace

RouteResponses::RouteResponses(const config::Config& config, SipKey key,
                               const RouteResponses* former)
    : config_(config) {
  if (former != nullptr && !identifies_clients_alike(former->config_, config)) former = nullptr;
  for (const config::Route& route : config.routes) {
    std::shared_ptr<cache::ResponseCache>& cache = caches_.emplace_back();
    if (route.cache) {
      const config::Cache settings = effective_settings(*route.cache, config);
      if (former != nullptr) cache = former->find(config, route, settings);
      if (!cache) cache = std::make_shared<cache::ResponseCache>(settings, key);
      has_caches_ = true;
    }
    fallbacks_.push_back(route.fallback
                             ? std::make_unique<const cache::FallbackResponse>(*route.fallback)
                             : nullptr);
  }
}

// The cache of the route with this name, if it stores the same requests to the same upstream.
std::shared_ptr<cache::ResponseCache> RouteResponses::find(const config::Config& config,
                                                           const config::Route& route,
                                                           const config::Cache& settings) const {
  for (std::size_t i = 0; i < caches_.size(); ++i) {
    if (caches_[i] && config::is_same_route(config_, config_.routes[i], config, route) &&
        caches_[i]->settings() == settings)
      return caches_[i];
  }
  return nullptr;
}

void RouteResponses::read_snapshot(std::vector<observe::CacheSnapshot>& caches,
                                   bool exclusive) const {
  for (std::size_t i = 0; i < caches_.size(); ++i) {
    if (!caches_[i] || (exclusive && caches_[i].use_count() > 1)) continue;
    const cache::CacheCounts counts = caches_[i]->counts();
    caches.push_back({.route = RouteId(static_cast<std::uint32_t>(i)),
                      .bytes = counts.bytes,
                      .max_bytes = counts.max_bytes,
                      .entries = counts.entries,
                      .stores = counts.stores,
                      .evictions = counts.evictions,
                      .invalidations = counts.invalidations});
  }
}

cache::PurgeResult RouteResponses::purge(const cache::PurgeRequest& what, TimePoint now) const {
  using Kind = cache::PurgeRequest::Kind;
  cache::PurgeResult result;
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
  const cache::Purge wanted{
      what.kind == Kind::key ? cache::Purge::What::key : cache::Purge::What::prefix, text};
  for (const auto& cache : caches_) {
    if (cache) result.purged += cache->purge(wanted, now);
  }
  return result;
}

}  // namespace spillway::proxy
