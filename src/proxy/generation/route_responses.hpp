// Responses that need no upstream: the response cache and the fallback of each route that has one.
// Shared by all workers.
#pragma once

#include <memory>
#include <vector>

#include "base/ids.hpp"
#include "base/sip_hash.hpp"
#include "base/time.hpp"
#include "cache/fallback_response.hpp"
#include "cache/rules/purge_request.hpp"
#include "cache/store/response_cache.hpp"
#include "config/config.hpp"
#include "observe/snapshot/snapshot.hpp"

namespace spillway::proxy {

class RouteResponses {
 public:
  // `config` must outlive this. The key is secret: clients choose the texts that are hashed. A
  // cache of `former` (may be null) carries over to the route of the same name, if cache settings,
  // match, upstream and client identification are unchanged.
  RouteResponses(const config::Config& config, SipKey key, const RouteResponses* former = nullptr);

  // Null if the route has none.
  cache::ResponseCache* cache(RouteId route) const { return caches_[index(route)].get(); }
  const cache::FallbackResponse* fallback(RouteId route) const {
    return fallbacks_[index(route)].get();
  }
  bool has_caches() const { return has_caches_; }

  // Thread-safe. `exclusive`: without caches that another generation uses too.
  void read_snapshot(std::vector<observe::CacheSnapshot>& caches, bool exclusive = false) const;
  cache::PurgeResult purge(const cache::PurgeRequest& what, TimePoint now) const;

 private:
  const config::Config& config_;
  std::shared_ptr<cache::ResponseCache> find(const config::Config& config,
                                             const config::Route& route,
                                             const config::Cache& settings) const;

  std::vector<std::shared_ptr<cache::ResponseCache>> caches_;              // by route
  std::vector<std::unique_ptr<const cache::FallbackResponse>> fallbacks_;  // by route
  bool has_caches_ = false;
};

}  // namespace spillway::proxy
