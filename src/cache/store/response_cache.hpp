// The response cache of a route (RFC 9111, shared): responses that are reused while they are fresh,
// or stale under overload or when the upstream fails.
//
// In memory, at most max_bytes, shared by all workers; thread-safe. A look-up holds one lock for
// tens of nanoseconds and allocates nothing. storable.hpp decides what may be stored; this class
// handles keys, ages and which clients a response may be reused for. All times passed must come
// from one clock and be those of the call: invalidation and purge compare them with request times.
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
  stale,  // of any age: see may_serve_stale()
  miss,
  vary_miss,   // nothing for this variant of the URI
  unstorable,  // a miss, and the last response could not be stored: do not wait for another request
};

struct Found {
  Lookup result = Lookup::miss;
  StoredPtr response{};  // if fresh or stale; may be given to this client
  // A newer response could recently not be stored, even if an old one is: do not wait for another
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
  // The SipHash key is secret, since clients choose the hashed values.
  ResponseCache(const config::Cache& settings, SipKey key);
  ~ResponseCache();
  ResponseCache(const ResponseCache&) = delete;
  ResponseCache& operator=(const ResponseCache&) = delete;

  const config::Cache& settings() const { return settings_; }

  // Makes the request's key and looks it up. Counts as a hit for eviction.
  Found find(const CacheRequest& request, CacheKey& key, TimePoint now);

  // Begins to store the response to the request whose key find() made; if the response varies, the
  // key becomes its variant's. `open`: from storable(). `date`: to add if it has no Date (RFC 9110
  // section 6.6.1). `length`: of the body, if known. nullopt if the response may be given to its
  // own client only (personal.hpp), if its variants cannot be distinguished (unite_names), if it is
  // larger than max_entry_bytes, including key and header fields, or if there is no room.
  std::optional<Filling> begin(CacheKey& key, const CacheRequest& request,
                               const http::ResponseHead& response, const Validity& validity,
                               bool open, TimePoint requested_at, TimePoint arrived_at,
                               std::string_view date, std::optional<std::uint64_t> length);

  // After a 304 for a stored response: replaces it by a copy with the merged fields (merge.hpp) and
  // new times. Returns the old one if there is no room, if another response has been stored since,
  // or if ETag or Vary show that the 304 was about another response; in this last case the old one
  // is removed from the store.
  StoredPtr refreshed(const StoredPtr& old, const http::FieldList& merged, const Validity& validity,
                      bool open, TimePoint requested_at, TimePoint arrived_at);

  // The response to this key could not be stored: find() reports this for ten seconds.
  void mark_unstorable(const CacheKey& key, TimePoint now);

  // Removes the response at this key, unless it was requested after `requested_at`.
  void withdraw(const CacheKey& key, TimePoint requested_at = kNever);

  // Invalidates all responses for a URI that were requested until now, stored or still arriving
  // (RFC 9111 section 4.4). In constant time.
  void invalidate(std::string_view authority, std::string_view path_and_query, TimePoint now);

  // Removes the responses that the purge names and returns their number. No response requested
  // until now is stored any more, whatever its key. Visits every entry, in slices that hold the
  // lock for a few microseconds.
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
