// One request and its route's response cache: whether a stored response answers it, and the
// Cache-Status field (RFC 9211).
#pragma once

#include <optional>

#include "cache/rules/cache_key.hpp"
#include "cache/rules/fetch.hpp"
#include "cache/rules/serving.hpp"
#include "cache/store/response_cache.hpp"
#include "cache/store/stored_response.hpp"
#include "http/caching/cache_control.hpp"
#include "http/caching/range.hpp"
#include "http/outgoing/cache_status.hpp"
#include "observe/count/cache_use.hpp"
#include "proxy/request/answer/fault.hpp"
#include "proxy/request/context/request_context.hpp"
#include "proxy/request/owner/services.hpp"

namespace spillway::proxy {

class CacheLookup {
 public:
  // The memory of `key` is reused from request to request.
  CacheLookup(Services& services, const RequestContext& request, cache::CacheKey& key)
      : services_(services), request_(request), key_(key) {}
  CacheLookup(const CacheLookup&) = delete;
  CacheLookup& operator=(const CacheLookup&) = delete;

  // --- Normal operation. After `fresh` or stale_while_revalidate the stored response is taken.
  cache::Serving consult();
  // For the revalidation of `stored`, which was found by `key`.
  void revalidate(cache::ResponseCache& cache, const cache::StoredPtr& stored);

  // --- Whether a stored response answers.
  // The cache may answer this request or store its response.
  bool is_usable() const { return cache_ != nullptr; }
  bool accepts_only_stored() const { return directives_.only_if_cached; }
  bool may_serve_stale() const;
  // Looks up unless that was done already; true if a response may be served stale. While the
  // upstream is overloaded the request's no-cache and max-age are ignored: they are advisory (RFC
  // 9111 section 5.2.1), and users that reload must not bypass the cache.
  bool look_up_stale();
  // The same after a wait: another request may have stored a response meanwhile.
  bool look_up_stale_again();
  // For shadow mode: whether look_up_stale() would return true. Leaves no trace in the result or
  // the status.
  bool would_have_stale() const;
  // A rule degrades the request: a stale response is acceptable.
  void accept_stale() { accepts_stale_ = true; }
  // For use when the upstream has failed (RFC 5861 section 4).
  bool may_serve_on_error() const;
  bool look_up_stale_if_error(const Fault& fault);
  // Takes the response that the flight's leader has stored. False: it does not suit this request.
  bool try_take_shared();

  // --- The stored response is sent. `refresh`: revalidate it afterwards if it is stale.
  void take(bool refresh);
  void take_for_refusal(bool refresh);
  void take_for_error(const Fault& fault, std::optional<unsigned> status);
  // The 304 `response` freshens it (RFC 9111 section 4.3.4). True if it is stored again.
  bool take_confirmed(http::ResponseHead& response, TimePoint requested_at);
  const cache::StoredPtr& stored() const { return stored_; }
  // The part of the content that the request asks for with Range; nullopt: all of it.
  const std::optional<http::ByteRange>& part() const { return part_; }
  bool wants_part() const { return range_.has_value(); }
  void drop_stored() { stored_.reset(); }
  bool wants_refresh() const { return wants_refresh_; }

  // --- The upstream is asked, also to fill the cache.
  void plan_fetch();
  void cancel_fetch() { fetch_ = cache::Fetch::plain; }
  bool fetches_for_cache() const { return fetch_ != cache::Fetch::plain; }
  // Single flight: one request per key asks the upstream, the others wait for its response.
  bool shares_response() const { return fetch_ == cache::Fetch::shared; }
  void follow() { was_follower_ = true; }
  bool was_follower() const { return was_follower_; }

  // --- For storing.
  cache::ResponseCache* cache() const { return cache_; }
  cache::CacheKey& key() const { return key_; }
  cache::CacheRequest asked() const;
  cache::TenantInKey tenant_in_key() const;
  bool looked_up() const { return looked_up_; }
  bool accepts_stale() const { return accepts_stale_; }

  // --- Cache-Status and metrics.
  const http::CacheStatus& status() const { return status_; }
  void set_storing(bool is_stored) { status_.stored = is_stored; }
  // Cache-Status when the stored response is sent.
  http::CacheStatus status_of_stored(TimePoint now) const;
  // Cache-Status of the problem response for a fault.
  http::CacheStatus status_for(const Fault& fault) const;
  observe::CacheResult result() const { return result_; }

 private:
  void look_up();
  bool is_fresh_enough() const;
  bool allows_stale_while_revalidate() const;
  bool is_forwarded_unclearly() const;
  bool read_range();
  void find_part();

  Services& services_;
  const RequestContext& request_;
  cache::CacheKey& key_;
  cache::ResponseCache* cache_ = nullptr;
  http::CacheControl directives_;  // of the request
  std::optional<http::RangeWanted> range_;
  cache::StoredPtr stored_;
  std::optional<http::ByteRange> part_;  // the part of the stored response for that range
  http::CacheStatus status_;
  observe::CacheResult result_ = observe::CacheResult::bypass;
  cache::Fetch fetch_ = cache::Fetch::plain;
  bool looked_up_ = false;
  bool is_unstorable_ = false;  // its last response was unstorable: no request waits for this one
  bool accepts_stale_ = false;
  bool was_follower_ = false;
  bool wants_refresh_ = false;
};

}  // namespace spillway::proxy
