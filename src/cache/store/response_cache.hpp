// The response cache of a route (RFC 9111, shared): responses that are reused while they are fresh,
// or stale under overload or when the upstream fails.
//
// In memory, at most max_bytes, shared by all workers; any thread. A look-up holds one lock for
// tens of nanoseconds and allocates nothing. What may be stored is decided by storable.hpp; this
// class knows keys, ages and for whom a response may be reused. All times passed must come from one
// clock and be those of the call: invalidation and purge compare them with the times of requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/sip_hash.hpp"
#include "base/time.hpp"
#include "cache/rules/cache_key.hpp"
#include "cache/rules/purge.hpp"
#include "cache/rules/validity.hpp"
#include "cache/store/filling.hpp"
#include "cache/store/single_flight.hpp"
#include "cache/store/stored_response.hpp"
#include "config/config.hpp"
#include "http/message/head.hpp"

namespace spillway::cache {

enum class Lookup : std::uint8_t {
  fresh,
  stale,  // however old: see may_serve_stale()
  miss,
  vary_miss,   // nothing for this variant of the URI
  unstorable,  // a miss, and the last response could not be stored: do not wait for another request
};

struct Found {
  Lookup result = Lookup::miss;
  StoredPtr response{};  // when fresh or stale; may be given to this client
  // A newer response could not be stored lately, even if an old one is: do not wait for another
  // request.
  bool unstorable = false;
};

struct CacheCounts {
  std::uint64_t bytes = 0;  // held: stored, filling, pinned by readers, tables
  std::uint64_t max_bytes = 0;
  std::uint64_t entries = 0;  // stored responses
  std::uint64_t stores = 0;
  std::uint64_t evictions = 0;
  std::uint64_t invalidations = 0;
};

class ResponseCache {
 public:
  // The SipHash key is secret: clients choose what is hashed.
  ResponseCache(const config::Cache& settings, SipKey key);
  ~ResponseCache();
  ResponseCache(const ResponseCache&) = delete;
  ResponseCache& operator=(const ResponseCache&) = delete;

  const config::Cache& settings() const { return settings_; }

  // Makes the request's key and looks it up. Counts as a hit for eviction.
  Found find(const CacheRequest& request, CacheKey& key, TimePoint now);

  // Begins to store the response to the request whose key find() made; if the response varies, the
  // key becomes its variant's. `open`: from storable(). `date`: its Date if it has none (RFC 9110
  // section 6.6.1). `length`: of the body, if known. Nothing when the response may be given to its
  // own client only (personal.hpp), when its variants cannot be told apart (unite_names), when it
  // is bigger than max_entry_bytes, key and header fields included, or when there is no room.
  std::optional<Filling> begin(CacheKey& key, const CacheRequest& request,
                               const http::ResponseHead& response, const Validity& validity,
                               bool open, TimePoint requested_at, TimePoint arrived_at,
                               std::string_view date, std::optional<std::uint64_t> length);

  // After a 304 for a stored response: stores a copy with the merged fields (merge.hpp) and new
  // times in its place. Returns the old one when there is no room, when another response has been
  // stored since, or when ETag or Vary say that the 304 was about another response; in this last
  // case the old one leaves the store.
  StoredPtr refreshed(const StoredPtr& old, const http::FieldList& merged, const Validity& validity,
                      bool open, TimePoint requested_at, TimePoint arrived_at);

  // The response to this key could not be stored: for ten seconds find() says so.
  void mark_unstorable(const CacheKey& key, TimePoint now);

  // Removes the response at this key, unless it was requested after `requested_at`.
  void withdraw(const CacheKey& key, TimePoint requested_at = kNever);

  // Invalidates all responses for a URI that were requested until now, stored or on their way (RFC
  // 9111 section 4.4). In constant time.
  void invalidate(std::string_view authority, std::string_view path_and_query, TimePoint now);

  // Removes what the purge names and returns how many responses that were. No response requested
  // until now is stored any more, whatever its key. Visits every entry, in slices of a few
  // microseconds under the lock.
  std::size_t purge(const Purge& purge, TimePoint now);

  CacheCounts counts() const;
  SingleFlight& flights() { return flights_; }

 private:
  CacheShard& shard_of(std::uint64_t uri_hash) const;
  TenantInKey tenant_in_key(const CacheRequest& request) const;
  std::size_t max_entry_bytes() const {
    return static_cast<std::size_t>(settings_.max_entry_bytes);
  }

  config::Cache settings_;
  SipKey key_;
  std::vector<std::unique_ptr<CacheShard>> shards_;
  SingleFlight flights_;
};

}  // namespace spillway::cache
