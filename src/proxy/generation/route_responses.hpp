// What the routes have to answer with when the upstream is not asked: the response cache of each
// that has one, and its prepared answer. Shared by all workers; outlives them.
#pragma once

#include <memory>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "cache/fallback_response.hpp"
#include "cache/rules/purge_request.hpp"
#include "cache/store/response_cache.hpp"
#include "config/config.hpp"
#include "observe/snapshot.hpp"
#include "traffic/sip_hash.hpp"

namespace spillway::proxy {

class RouteResponses {
 public:
  // Keeps references to the configuration. The key is secret: clients choose what is hashed.
  // What `former` has stored for a route stays, if nothing has changed that says what is stored for
  // whom; it may be null.
  RouteResponses(const config::Config& config, traffic::SipKey key,
                 const RouteResponses* former = nullptr);

  // Null when the route has none.
  cache::ResponseCache* cache(RouteId route) const { return caches_[index(route)].get(); }
  const cache::FallbackResponse* prepared(RouteId route) const {
    return prepared_[index(route)].get();
  }
  bool has_cache() const { return has_cache_; }

  // Any thread. `its_own`: without those that are another's as well.
  void read_snapshot(std::vector<observe::CacheSnapshot>& caches, bool its_own = false) const;
  cache::PurgeResult purge(const cache::PurgeRequest& what, TimePoint now) const;

 private:
  const config::Config& config_;
  std::shared_ptr<cache::ResponseCache> find(const config::Route& route,
                                             const std::vector<config::Upstream>& upstreams,
                                             const config::Cache& settings) const;

  std::vector<std::shared_ptr<cache::ResponseCache>> caches_;             // by route
  std::vector<std::unique_ptr<const cache::FallbackResponse>> prepared_;  // by route
  bool has_cache_ = false;
};

}  // namespace spillway::proxy
