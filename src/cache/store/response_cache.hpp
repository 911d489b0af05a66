// The response cache of a route: answers that are given again while they are fresh, or when there
// is nothing better.
//
// In memory, of at most max_bytes, shared by all workers. A look-up holds one lock for tens of
// nanoseconds. It knows keys, ages and who may be given an answer; what may be stored is
// storable.hpp's to say. Times must come from one clock and be those of the call: answers asked for
// before an invalidation or a purge are told from later ones by them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "cache/rules/cache_key.hpp"
#include "cache/rules/purge.hpp"
#include "cache/rules/validity.hpp"
#include "cache/store/filling.hpp"
#include "cache/store/single_flight.hpp"
#include "cache/store/stored_response.hpp"
#include "config/config.hpp"
#include "http/head.hpp"
#include "traffic/sip_hash.hpp"

namespace spillway::cache {

enum class Lookup : std::uint8_t {
  fresh,
  stale,  // however old: see may_serve_stale()
  miss,
  vary_miss,  // nothing for this variant of the URI
  unstorable  // a miss, and lately the answer could not be stored: wait for nobody's
};

struct Found {
  Lookup result = Lookup::miss;
  StoredPtr response{};  // when fresh or stale; it may be given to who asked
  // Lately a newer answer could not be stored, also when there is an old one: wait for nobody's.
  bool unstorable = false;
};

struct CacheCounts {
  std::uint64_t bytes = 0;  // held, all of them
  std::uint64_t max_bytes = 0;
  std::uint64_t entries = 0;  // stored answers
  std::uint64_t stores = 0;
  std::uint64_t evictions = 0;
  std::uint64_t invalidations = 0;
  std::uint64_t examined = 0;  // records, to find who is to leave
};

class ResponseCache {
 public:
  // The key is secret: clients choose what is hashed.
  ResponseCache(const config::Cache& settings, traffic::SipKey key);
  ~ResponseCache();
  ResponseCache(const ResponseCache&) = delete;
  ResponseCache& operator=(const ResponseCache&) = delete;

  const config::Cache& settings() const { return settings_; }

  // Makes the key of what is asked for, and looks. Counts as a hit for eviction.
  Found find(const Asked& asked, CacheKey& key, TimePoint now);

  // Begins to store the answer to the request whose key find() made; where the response varies, the
  // key becomes its variant's. `open`: of storable(). `date`: its Date when it says none itself
  // (RFC 9110 section 6.6.1). `length`: of the body, if it is known. Nothing when it may not be
  // given to another than who asked (personal.hpp), cannot be told apart (unite_names), is bigger
  // than max_entry_bytes with key, fields and all, or when there is no room.
  std::optional<Filling> begin(CacheKey& key, const Asked& asked,
                               const http::ResponseHead& response, const Validity& validity,
                               bool open, TimePoint requested_at, TimePoint arrived_at,
                               std::string_view date, std::optional<std::uint64_t> length);

  // After a 304 for a stored answer: the same with other fields and times (merge.hpp; read_fields()
  // gives the stored ones), in its place. When there is no room, or another answer is there by now,
  // or the fields say that it is another (ETag, Vary): the old one, as it is; in the last case it
  // is not in the store any more.
  StoredPtr refreshed(const StoredPtr& old, const http::FieldList& merged, const Validity& validity,
                      bool open, TimePoint requested_at, TimePoint arrived_at);

  // For ten seconds nobody need wait for an answer to this key.
  void mark_unstorable(const CacheKey& key, TimePoint now);

  // Takes the answer at this key out of the store, unless it was asked for after this: what came in
  // its place is not to be stored.
  void withdraw(const CacheKey& key, TimePoint requested_at = kNever);

  // Ends what is stored for a URI, and what is on its way: asked for until now. At once, however
  // much that is.
  void invalidate(std::string_view authority, std::string_view path_and_query, TimePoint now);

  // How many stored answers went. Those that are on their way, whatever their key, are not stored.
  // Looks at everything, but lets others in every few microseconds.
  std::size_t purge(const Purge& purge, TimePoint now);

  CacheCounts counts() const;
  Flights& flights() { return flights_; }

 private:
  CacheShard& shard_of(std::uint64_t uri_hash) const;
  TenantInKey tenant_in_key(const Asked& asked) const;
  std::size_t max_entry_bytes() const {
    return static_cast<std::size_t>(settings_.max_entry_bytes);
  }

  config::Cache settings_;
  traffic::SipKey key_;
  std::vector<std::unique_ptr<CacheShard>> shards_;
  Flights flights_;
};

}  // namespace spillway::cache
