#include "cache/store/response_cache.hpp"

#include <algorithm>
#include <utility>

#include "cache/store/cache_shard.hpp"
#include "cache/store/response_builder.hpp"

namespace spillway::cache {
namespace {

constexpr std::size_t kMostShards = 16;
constexpr std::size_t kLeastShardBytes = std::size_t{1} << 20;
constexpr std::size_t kEntriesInShard = 8;  // of the biggest

std::size_t shards_for(const config::Cache& settings) {
  const std::uint64_t least =
      std::max<std::uint64_t>(kLeastShardBytes, kEntriesInShard * settings.max_entry_bytes);
  std::size_t shards = kMostShards;
  while (shards > 1 && settings.max_bytes / shards < least) shards /= 2;
  return shards;
}

// Validators that say the same, strong or weak (RFC 9110 section 8.8.3.2).
bool is_same_tag(std::string_view a, std::string_view b) {
  if (a.starts_with("W/")) a.remove_prefix(2);
  if (b.starts_with("W/")) b.remove_prefix(2);
  return a == b;
}

}  // namespace

ResponseCache::ResponseCache(const config::Cache& settings, traffic::SipKey key)
    : settings_(settings), key_(key) {
  const std::size_t shards = shards_for(settings);
  const std::size_t own = flights_.bytes() / shards;
  const std::size_t each = static_cast<std::size_t>(settings.max_bytes / shards);
  for (std::size_t i = 0; i < shards; ++i) {
    shards_.push_back(std::make_unique<CacheShard>(each - std::min(each, own)));
  }
}

ResponseCache::~ResponseCache() = default;

CacheShard& ResponseCache::shard_of(std::uint64_t uri_hash) const {
  return *shards_[uri_hash & (shards_.size() - 1)];
}

// The tenant as far as it is in the key.
TenantInKey ResponseCache::tenant_in_key(const Asked& asked) const {
  return settings_.across_tenants || asked.tenant.empty() ? TenantInKey{} : asked.tenant_in_key;
}

Found ResponseCache::find(const Asked& asked, CacheKey& key, TimePoint now) {
  const TenantInKey tenant = tenant_in_key(asked);
  key.start(key_, asked, tenant, settings_.vary, !settings_.across_tenants);
  CacheShard& shard = shard_of(key.uri_hash_);
  StoredPtr response = shard.find(key.view(), key.names_);
  if (!key.names_.empty()) {
    key.vary(asked.fields);
    response = shard.find(key.view(), key.unused_);
  }
  key.personal_ = is_personal(asked.fields, settings_, tenant, key.names_);
  if (response && key.personal_ && !response->is_open()) response.reset();

  if (response && response->is_fresh(now)) return {Lookup::fresh, std::move(response)};
  const bool marked = shard.is_unstorable(key.view(), key.personal_, now);
  if (response) return {Lookup::stale, std::move(response), marked};
  if (marked) return {Lookup::unstorable, {}, true};
  return {key.is_variant() ? Lookup::vary_miss : Lookup::miss};
}

std::optional<Filling> ResponseCache::begin(CacheKey& key, const Asked& asked,
                                            const http::ResponseHead& response,
                                            const Validity& validity, bool open,
                                            TimePoint requested_at, TimePoint arrived_at,
                                            std::string_view date,
                                            std::optional<std::uint64_t> length) {
  if (!unite_names(key.names_, response.fields, settings_.vary, key.unused_)) {
    mark_unstorable(key, arrived_at);
    return {};
  }
  if (key.unused_ != key.names_) {
    std::swap(key.names_, key.unused_);
    key.vary(asked.fields);
  }
  key.personal_ = is_personal(asked.fields, settings_, tenant_in_key(asked), key.names_);
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
  Filling filling(shard_of(key.uri_hash_), parts, {length, max_entry_bytes()}, arrived_at);
  if (filling.is_too_big()) mark_unstorable(key, arrived_at);
  if (!filling.is_good()) return {};
  filling.set_personal(key.personal_);
  if (key.is_variant()) filling.set_primary(key.primary_size_, key.primary_hash_);
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
  const bool shares = old->is_shareable() && ResponseBuilder::head_bytes(parts) < shard.run_from();
  const std::size_t content = shares ? 0 : old->content().size();
  Filling filling(shard, parts, {content, max_entry_bytes()}, arrived_at);
  if (!filling.is_good()) return old;
  if (shares) {
    filling.share_content(*old);
  } else {
    filling.append(old->content());
  }
  StoredPtr renewed = filling.commit(arrived_at);
  return renewed ? renewed : old;
}

void ResponseCache::mark_unstorable(const CacheKey& key, TimePoint now) {
  shard_of(key.uri_hash_).mark_unstorable(key.view(), key.personal_, now);
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
  std::size_t gone = 0;
  for (const auto& shard : shards_) gone += shard->purge(purge);
  return gone;
}

CacheCounts ResponseCache::counts() const {
  CacheCounts counts{.bytes = flights_.bytes(), .max_bytes = settings_.max_bytes};
  for (const auto& shard : shards_) {
    const CacheShard::Counts its = shard->counts();
    counts.bytes += its.bytes;
    counts.entries += its.answers;
    counts.stores += its.stores;
    counts.evictions += its.evictions;
    counts.invalidations += its.invalidations;
    counts.examined += its.examined;
  }
  return counts;
}

}  // namespace spillway::cache
