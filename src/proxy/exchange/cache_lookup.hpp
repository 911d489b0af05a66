// One request and its route's response cache: whether a stored response will do, and what the
// client is told of it (Cache-Status, RFC 9211).
#pragma once

#include <optional>

#include "cache/rules/cache_key.hpp"
#include "cache/rules/serving.hpp"
#include "cache/store/response_cache.hpp"
#include "cache/store/stored_response.hpp"
#include "http/cache_control.hpp"
#include "http/cache_status.hpp"
#include "observe/cache_use.hpp"
#include "proxy/exchange/fault.hpp"
#include "proxy/exchange/request_context.hpp"
#include "proxy/exchange/services.hpp"

namespace spillway::proxy {

class CacheLookup {
 public:
  // `key` keeps its memory from request to request.
  CacheLookup(Services& services, const RequestContext& request, cache::CacheKey& key)
      : services_(services), request_(request), key_(key) {}
  CacheLookup(const CacheLookup&) = delete;
  CacheLookup& operator=(const CacheLookup&) = delete;

  // --- Before anything else is asked: looks for a response that will do. With fresh or
  // stale_while_revalidate it has been taken.
  cache::Serving consult();
  // For a revalidation of `stored`, which `key` found.
  void revalidate(cache::ResponseCache& cache, const cache::StoredPtr& stored);

  // --- Whether what is stored will do.
  // The cache may answer this request, or keep what the upstream answers.
  bool is_usable() const { return cache_ != nullptr; }
  bool accepts_only_stored() const { return directives_.only_if_cached; }
  bool may_serve_stale() const;
  // Looks, unless that was done, whether a response is there that may be served stale. While
  // overloaded the request's own wish for something newer does not count: it is advisory (RFC 9111
  // section 5.2.1), and a crowd that reloads must not get past the cache.
  bool has_stale();
  // A rule degrades the request: what is stored will do even if it is stale.
  void accept_stale() { accepts_stale_ = true; }
  // In place of the upstream's failure (RFC 5861 section 4).
  bool may_serve_on_error() const;
  bool takes_stale_if_error(const Fault& fault);
  // What another request has just had stored.
  bool takes_shared();

  // --- It does: the stored response answers. `refresh`: the upstream is asked afterwards, if that
  // is stale.
  void take(bool refresh);
  void take_for_error(const Fault& fault, std::optional<unsigned> status);
  // A 304 for it: `response` renews it (RFC 9111 section 4.3.4). Whether it was stored so.
  bool take_confirmed(http::ResponseHead& response, TimePoint requested_at);
  const cache::StoredPtr& stored() const { return stored_; }
  void drop_stored() { stored_.reset(); }
  bool wants_refresh() const { return wants_refresh_; }

  // --- It does not: the upstream is asked, also for the cache's sake.
  void plan_fetch();
  void cancel_fetch() { fetches_for_cache_ = shares_response_ = false; }
  bool fetches_for_cache() const { return fetches_for_cache_; }
  // One request per key asks the upstream; the others wait for what it brings.
  bool shares_response() const { return shares_response_; }
  void follow() { was_follower_ = true; }
  bool was_follower() const { return was_follower_; }

  // --- For those who store.
  cache::ResponseCache* cache() const { return cache_; }
  cache::CacheKey& key() const { return key_; }
  cache::CacheRequest asked() const;
  cache::TenantInKey tenant_in_key() const;
  bool looked_up() const { return looked_up_; }
  bool accepts_stale() const { return accepts_stale_; }

  // --- What is said of it.
  const http::CacheStatus& status() const { return status_; }
  void set_storing(bool is_stored) { status_.stored = is_stored; }
  // Of the stored response that answers.
  http::CacheStatus status_of_stored(TimePoint now) const;
  // Of a response of the proxy's own that says this fault.
  http::CacheStatus status_for(const Fault& fault) const;
  observe::CacheLookup result() const { return result_; }

 private:
  void look_up();
  bool is_fresh_enough() const;
  bool allows_stale_while_revalidate() const;
  bool is_forwarded_unclearly() const;

  Services& services_;
  const RequestContext& request_;
  cache::CacheKey& key_;
  cache::ResponseCache* cache_ = nullptr;
  http::CacheControl directives_;  // of the request
  cache::StoredPtr stored_;
  http::CacheStatus status_;
  observe::CacheLookup result_ = observe::CacheLookup::bypass;
  bool looked_up_ = false;
  bool is_unstorable_ = false;  // lately it was: no request waits for it
  bool accepts_stale_ = false;
  bool fetches_for_cache_ = false;
  bool shares_response_ = false;
  bool was_follower_ = false;
  bool wants_refresh_ = false;
};

}  // namespace spillway::proxy
