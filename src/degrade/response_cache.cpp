#include "degrade/response_cache.hpp"

#include "degrade/cache_shard.hpp"
#include "degrade/response_builder.hpp"

namespace spillway::degrade {

ResponseCache::ResponseCache(const config::Cache& settings, traffic::SipKey key)
    : settings_(settings), key_(key) {
  shards_.push_back(std::make_unique<CacheShard>(settings.max_bytes));
}
ResponseCache::~ResponseCache() = default;

CacheShard& ResponseCache::shard_of(const CacheKey&) { return *shards_.front(); }

Found ResponseCache::find(const Asked& asked, CacheKey& key, TimePoint now) {
  Asked its = asked;
  if (settings_.across_tenants) its.tenant = {};
  if (its.tenant.empty()) its.tenant_in_key = {};
  key.start(key_, its, settings_.vary);
  CacheShard& shard = shard_of(key);
  StoredPtr response = shard.find({key.text(), key.hash_, key.uri_hash_}, key.names_, now);
  if (!key.names_.empty()) {
    key.vary_by(key.names_, asked.fields);
    std::string none;
    response = shard.find({key.text(), key.hash_, key.uri_hash_}, none, now);
  }
  key.personal_ = is_personal(asked.fields, settings_, its.tenant_in_key, key.names_);
  if (response && key.personal_ && !response->is_open()) response.reset();
  if (response && response->is_fresh(now)) return {Lookup::fresh, std::move(response)};
  const bool unstorable = shard.has_note(
      {key.text(), key.hash_, key.uri_hash_},
      key.personal_ ? Record::Kind::unstorable_for_one : Record::Kind::unstorable, now);
  if (response) return {Lookup::stale, std::move(response), unstorable};
  if (unstorable) return {Lookup::unstorable, {}, true};
  return {key.names_.empty() ? Lookup::miss : Lookup::vary_miss, {}};
}

std::optional<Filling> ResponseCache::begin(CacheKey& key, const Asked& asked,
                                            const http::ResponseHead& response,
                                            const Validity& validity, bool open,
                                            TimePoint requested_at, TimePoint arrived_at,
                                            std::string_view date,
                                            std::optional<std::uint64_t> length) {
  Asked its = asked;
  if (settings_.across_tenants || its.tenant.empty()) its.tenant_in_key = {};
  std::string names;
  if (!unite_names(key.names_, response.fields, settings_.vary, names)) return {};
  if (names != key.names_) {
    key.vary_by(names, asked.fields);
    shard_of(key).put_note({key.primary(), key.primary_hash_, key.uri_hash_}, Record::Kind::names,
                           names, kNever);
  }
  if (!open && is_personal(asked.fields, settings_, its.tenant_in_key, key.names_)) return {};
  const ResponseParts parts{key.text(),
                            key.hash_,
                            key.uri_hash_,
                            response.status,
                            response.reason_phrase,
                            response.fields,
                            date,
                            validity,
                            open,
                            requested_at,
                            arrived_at};
  Filling filling;
  filling.head_size_ = filling.size_ = ResponseBuilder::head_size(parts);
  if (length && *length > settings_.max_entry_bytes) return {};
  filling.capacity_ = length ? filling.head_size_ + *length : settings_.max_entry_bytes;
  if (filling.capacity_ > settings_.max_entry_bytes || filling.capacity_ < filling.head_size_) {
    return {};
  }
  filling.block_ = shard_of(key).take(filling.capacity_);
  if (filling.block_ == nullptr) return {};
  filling.shard_ = &shard_of(key);
  filling.length_ = length;
  filling.response_ = ResponseBuilder::build(filling.block_, parts);
  filling.response_->shard_ = filling.shard_;
  filling.response_->bytes_ = filling.capacity_;
  return filling;
}

StoredPtr ResponseCache::refreshed(const StoredPtr& old, const http::FieldList& merged,
                                   const Validity& validity, bool open, TimePoint requested_at,
                                   TimePoint arrived_at) {
  const char* const text = reinterpret_cast<const char*>(old.get()) + sizeof(StoredResponse);
  const ResponseParts parts{{text, old->key_size()},
                            old->hash_,
                            old->uri_hash_,
                            old->status(),
                            old->reason_phrase(),
                            merged,
                            {},
                            validity,
                            open,
                            requested_at,
                            arrived_at};
  CacheShard& shard = *old->shard_;
  Filling filling;
  filling.head_size_ = filling.size_ = ResponseBuilder::head_size(parts);
  filling.capacity_ = filling.head_size_ + old->content().size();
  filling.block_ = shard.take(filling.capacity_);
  if (filling.block_ == nullptr) return old;
  filling.shard_ = &shard;
  filling.response_ = ResponseBuilder::build(filling.block_, parts);
  filling.response_->shard_ = &shard;
  filling.response_->bytes_ = filling.capacity_;
  filling.append(old->content());
  StoredPtr fresh = filling.commit(arrived_at);
  return fresh ? fresh : old;
}

void ResponseCache::mark_unstorable(const CacheKey& key, TimePoint now) {
  shard_of(key).put_note(
      {key.text(), key.hash_, key.uri_hash_},
      key.personal_ ? Record::Kind::unstorable_for_one : Record::Kind::unstorable, {},
      now + kUnstorableFor);
}

void ResponseCache::withdraw(const CacheKey& key) {
  shard_of(key).remove({key.text(), key.hash_, key.uri_hash_});
}

void ResponseCache::invalidate(std::string_view authority, std::string_view path_and_query,
                               TimePoint now) {
  shards_.front()->invalidate(uri_hash(key_, authority, path_and_query), now);
}

std::size_t ResponseCache::purge(const Purge& purge, TimePoint now) {
  for (const auto& shard : shards_) shard->begin_purge(now);
  std::size_t gone = 0;
  for (const auto& shard : shards_) gone += shard->purge(purge);
  return gone;
}

CacheCounts ResponseCache::counts() const {
  CacheCounts counts{.max_bytes = settings_.max_bytes};
  for (const auto& shard : shards_) {
    counts.bytes += shard->bytes();
    counts.entries += shard->entries;
    counts.stores += shard->stores;
    counts.evictions += shard->evictions;
    counts.invalidations += shard->invalidations;
  }
  return counts;
}

}  // namespace spillway::degrade
