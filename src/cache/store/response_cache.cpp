#include "cache/store/response_cache.hpp"

#include <algorithm>
#include <utility>

#include "cache/store/cache_shard.hpp"
#include "cache/store/heap_block.hpp"

namespace spillway::cache {
namespace {

constexpr std::size_t kMaxShards = 16;
constexpr std::size_t kMinShardBytes = std::size_t{1} << 20;
constexpr std::size_t kMinEntriesPerShard = 8;  // of max_entry_bytes

std::size_t shards_for(const config::Cache& settings) {
  const std::uint64_t least =
      std::max<std::uint64_t>(kMinShardBytes, kMinEntriesPerShard * settings.max_entry_bytes);
  std::size_t shards = kMaxShards;
  while (shards > 1 && settings.max_bytes / shards < least) shards /= 2;
  return shards;
}

// Weak comparison (RFC 9110 section 8.8.3.2).
bool is_same_tag(std::string_view a, std::string_view b) {
  if (a.starts_with("W/")) a.remove_prefix(2);
  if (b.starts_with("W/")) b.remove_prefix(2);
  return a == b;
}

}  // namespace

ResponseCache::ResponseCache(const config::Cache& settings, SipKey key)
    : settings_(settings), key_(key) {
  configure_heap();
  const std::size_t shards = shards_for(settings);
  const std::size_t own = flights_.bytes() / shards;
  const std::size_t each = static_cast<std::size_t>(settings.max_bytes / shards);
  for (std::size_t i = 0; i < shards; ++i) {
    shards_.push_back(std::make_unique<CacheShard>(each - std::min(each, own)));
  }
}

ResponseCache::~ResponseCache() {
  shards_.clear();
  trim_heap();
}

CacheShard& ResponseCache::shard_of(std::uint64_t uri_hash) const {
  return *shards_[uri_hash & (shards_.size() - 1)];
}

TenantInKey ResponseCache::tenant_in_key(const CacheRequest& request) const {
  return settings_.across_tenants || request.tenant.empty() ? TenantInKey{} : request.tenant_in_key;
}

Found ResponseCache::find(const CacheRequest& request, CacheKey& key, TimePoint now) {
  const TenantInKey tenant = tenant_in_key(request);
  key.start(key_, request, tenant, settings_.vary, !settings_.across_tenants);
  CacheShard& shard = shard_of(key.uri_hash_);
  StoredPtr response = shard.find(key.view());
  if (response && response->is_vary_note()) {
    key.names_ = response->content();
    key.vary(request);
    response = shard.find(key.view());
  }
  key.personal_ = is_personal(request.fields, settings_, tenant, key.names_);
  if (response && key.personal_ && !response->is_open()) response.reset();

  if (response && response->is_fresh(now)) return {Lookup::fresh, std::move(response)};
  const bool marked = shard.is_unstorable(key.hash(), now);
  if (response) return {Lookup::stale, std::move(response), marked};
  if (marked) return {Lookup::unstorable, {}, true};
  return {key.is_variant() ? Lookup::vary_miss : Lookup::miss};
}

std::optional<Filling> ResponseCache::begin(CacheKey& key, const CacheRequest& request,
                                            const http::ResponseHead& response,
                                            const Validity& validity, bool open,
                                            TimePoint requested_at, TimePoint arrived_at,
                                            std::string_view date,
                                            std::optional<std::uint64_t> length) {
  if (!unite_names(key.names_, response.fields, settings_.vary, key.scratch_)) {
    mark_unstorable(key, arrived_at);
    return {};
  }
  if (key.scratch_ != key.names_) {
    std::swap(key.names_, key.scratch_);
    key.vary(request);
  }
  key.personal_ = is_personal(request.fields, settings_, tenant_in_key(request), key.names_);
  if (key.personal_ && !open) {
    mark_unstorable(key, arrived_at);
    return {};
  }

  const ResponseParts parts{.key = key.view(),
                            .status = response.status,
                            .reason_phrase = response.reason_phrase,
                            .fields = response.fields,
                            .date = date,
                            .validity = validity,
                            .open = open,
                            .requested_at = requested_at,
                            .arrived_at = arrived_at};
  const Filling::Primary primary{key.is_variant() ? key.primary_size_ : 0, key.primary_hash_};
  Filling filling(shard_of(key.uri_hash_), parts, {length, max_entry_bytes()}, primary, key.hash(),
                  arrived_at);
  if (!filling.is_good()) return {};
  return filling;
}

StoredPtr ResponseCache::refreshed(const StoredPtr& old, const http::FieldList& merged,
                                   const Validity& validity, bool open, TimePoint requested_at,
                                   TimePoint arrived_at) {
  const KeyView key = old->key();
  CacheShard& shard = shard_of(key.uri_hash);
  const ResponseParts parts{.key = key,
                            .status = old->status(),
                            .reason_phrase = old->reason_phrase(),
                            .fields = merged,
                            .date = {},
                            .validity = validity,
                            .open = open,
                            .requested_at = requested_at,
                            .arrived_at = arrived_at};
  const http::Field* const tag = merged.find(http::FieldId::etag);
  const std::string_view names = names_in(key.text, settings_.vary.size());
  std::string all;
  if ((tag != nullptr && !old->etag().empty() && !is_same_tag(tag->value, old->etag())) ||
      !unite_names(names, merged, settings_.vary, all) || all != names) {
    shard.remove(key, old->requested_at());
    return old;
  }
  if (StoredResponse::head_bytes(parts) + old->content().size() > max_entry_bytes()) return old;
  const StoredPtr renewed = shard.store(parts, old->content(), arrived_at);
  return renewed ? renewed : old;
}

void ResponseCache::mark_unstorable(const CacheKey& key, TimePoint now) {
  shard_of(key.uri_hash_).mark_unstorable(key.hash(), now);
}

void ResponseCache::withdraw(const CacheKey& key, TimePoint requested_at) {
  shard_of(key.uri_hash_).remove(key.view(), requested_at);
}

void ResponseCache::invalidate(std::string_view authority, std::string_view path_and_query,
                               TimePoint now) {
  const std::uint64_t hash = uri_hash(key_, authority, path_and_query);
  shard_of(hash).invalidate(hash, now);
}

std::size_t ResponseCache::purge(const Purge& purge, TimePoint now) {
  for (const auto& shard : shards_) shard->begin_purge(now);
  std::size_t purged = 0;
  for (const auto& shard : shards_) purged += shard->purge(purge);
  if (purge.what == Purge::What::all) trim_heap();
  return purged;
}

CacheCounts ResponseCache::counts() const {
  CacheCounts counts{.bytes = flights_.bytes(), .max_bytes = settings_.max_bytes};
  for (const auto& shard : shards_) {
    const CacheShard::Counts its = shard->counts();
    counts.bytes += its.bytes;
    counts.entries += its.responses;
    counts.stores += its.stores;
    counts.evictions += its.evictions;
    counts.invalidations += its.invalidations;
  }
  return counts;
}

}  // namespace spillway::cache
