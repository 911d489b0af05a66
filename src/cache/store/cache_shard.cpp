#include "cache/store/cache_shard.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

#include "cache/rules/cache_key.hpp"
#include "cache/store/heap_block.hpp"

namespace spillway::cache {
namespace {

constexpr std::size_t kBytesPerBucket = 1024;
constexpr std::size_t kBytesPerEntry = 4096;  // in the tables of invalidation times and marks
constexpr std::size_t kBucketsPerSlice = 1024;
constexpr std::size_t kSlices = 4;  // per insertion, and one more per this many bytes:
constexpr std::size_t kBytesPerSlice = 16384;
constexpr std::size_t kBytesPerChance = 1024;

}  // namespace

CacheShard::CacheShard(std::size_t max_bytes)
    : buckets_(std::bit_ceil(std::max<std::size_t>(max_bytes / kBytesPerBucket, 1))),
      index_({buckets_.data(), buckets_.size()}),
      queues_(max_bytes),
      invalidated_(std::clamp<std::size_t>(max_bytes / kBytesPerEntry, 64, 65536)),
      marks_(std::bit_ceil(std::clamp<std::size_t>(max_bytes / kBytesPerEntry, 64, 4096))),
      table_bytes_(sizeof *this + buckets_.capacity() * sizeof buckets_[0] + queues_.bytes() +
                   invalidated_.bytes() + marks_.capacity() * sizeof(Mark)),
      capacity_(max_bytes - std::min(max_bytes, table_bytes_)) {}

CacheShard::~CacheShard() {
  index_.clear();
  queues_.clear(let_go);
}

StoredResponse* CacheShard::lookup(const KeyView& key) {
  const auto at = index_.find(key);
  return at == index_.end() ? nullptr : &*at;
}

StoredPtr CacheShard::find(const KeyView& key) {
  const std::lock_guard lock(mutex_);
  StoredResponse* const response = lookup(key);
  if (response == nullptr || is_invalid(*response)) return {};
  S3Fifo::hit(*response);
  return response;
}

bool CacheShard::is_unstorable(std::uint64_t hash, TimePoint now) const {
  const std::lock_guard lock(mutex_);
  const Mark& mark = marks_[slot_of(hash)];
  return mark.hash == hash && now < mark.until;
}

void CacheShard::mark_unstorable(std::uint64_t hash, TimePoint now) {
  const std::lock_guard lock(mutex_);
  marks_[slot_of(hash)] = {hash, now + kUnstorableFor};
}

// Evicts in slices, between which other threads may take the lock.
bool CacheShard::reserve(std::size_t bytes, TimePoint now) {
  if (bytes > capacity_) return false;  // it would empty the store and still not fit
  const TimePoint::rep full_until = (now + kFullFor).time_since_epoch().count();
  std::size_t chances = kSlice + bytes / kBytesPerChance;
  for (std::size_t slices = kSlices + bytes / kBytesPerSlice; slices > 0; --slices) {
    Removed removed;
    const std::lock_guard lock(mutex_);
    if (filling_ > 0 && filling_ + bytes > capacity_ / 2) {
      filling_full_until_.store(full_until, std::memory_order_relaxed);
      return false;
    }
    for (std::size_t i = 0; i < kSlice && held_ + bytes > capacity_; ++i) {
      StoredResponse* const evicted = queues_.examine(now, invalidated_, chances);
      if (evicted == nullptr) continue;
      counts_.evictions += !evicted->is_vary_note();
      remove_from_index(*evicted, removed);
      // Subtracted before it is freed, which is before the new block is allocated: otherwise
      // another thread could take the room.
      if (evicted->is_read()) continue;
      release(footprint(evicted->bytes()), Held::by_stored);
      evicted->is_counted_ = false;
    }
    if (held_ + bytes <= capacity_) {
      held_ += bytes;
      filling_ += bytes;
      return true;
    }
  }
  pinned_full_until_.store(full_until, std::memory_order_relaxed);
  return false;
}

void CacheShard::release(std::size_t bytes, Held held) {
  if (held == Held::by_filling) filling_ -= bytes;
  held_ -= bytes;
}

void CacheShard::discard(StoredResponse& response) {
  const std::size_t bytes = footprint(response.bytes());
  const Held held = response.is_stored_ ? Held::by_stored : Held::by_filling;
  const bool was_counted = response.is_counted_;
  response.~StoredResponse();
  std::free(&response);
  if (was_counted) release(bytes, held);
}

FillingPtr CacheShard::allocate(const ResponseParts& parts, std::size_t content_bytes,
                                TimePoint now) {
  const std::size_t bytes = StoredResponse::head_bytes(parts) + content_bytes;
  if (!reserve(footprint(bytes), now)) return {};
  void* const block = std::malloc(bytes);
  if (block == nullptr) {
    release(footprint(bytes), Held::by_filling);
    return {};
  }
  return StoredResponse::build(block, bytes, *this, parts);
}

FillingPtr CacheShard::resize(FillingPtr response, std::size_t content_bytes, TimePoint now) {
  StoredResponse::Head head = response->head_;
  const std::size_t before = footprint(head.bytes);
  head.bytes += content_bytes - response->capacity();
  const std::size_t after = footprint(head.bytes);
  // During the copy there are two blocks.
  if (after > before && !reserve(after, now)) return {};
  void* const block = resize_block(response.get(), response->bytes(), head.bytes);
  if (block == nullptr) {
    if (after > before) release(after, Held::by_filling);
    return {};
  }
  response.detach();
  if (after != before) release(after > before ? before : before - after, Held::by_filling);
  return new (block) StoredResponse(head);
}

// It has left its queue already. The list takes over the store's reference.
void CacheShard::remove_from_index(StoredResponse& response, Removed& removed) {
  index_.erase(index_.iterator_to(response));
  counts_.responses -= !response.is_vary_note();
  removed.list.push_back(response);
}

void CacheShard::unlink(StoredResponse& response, Removed& removed) {
  queues_.erase(response);
  remove_from_index(response, removed);
}

StoredPtr CacheShard::insert(StoredResponse& response) {
  Removed removed;
  const std::lock_guard lock(mutex_);
  StoredResponse* const old = lookup(response.key());
  const bool is_late = is_invalid(response) || response.requested_at() <= purged_at_;
  if (old != nullptr && old->requested_at() > response.requested_at()) {
    const bool may_be_given = !old->is_vary_note() && !is_invalid(*old) &&
                              old->requested_at() > purged_at_ &&
                              (old->is_open() || !response.is_open());
    return may_be_given ? old : nullptr;
  }
  if (is_late) return {};
  if (old != nullptr) {
    queues_.replace(*old, response);
    remove_from_index(*old, removed);
  } else {
    queues_.insert(response);
  }
  index_.insert(response);
  intrusive_ptr_add_ref(&response);
  response.is_stored_ = true;
  filling_ -= footprint(response.bytes());
  counts_.responses += !response.is_vary_note();
  counts_.stores += !response.is_vary_note();
  return &response;
}

StoredPtr CacheShard::store(const ResponseParts& parts, std::string_view content, TimePoint now) {
  const FillingPtr response = allocate(parts, content.size(), now);
  if (!response) return {};
  response->append(content);
  return insert(*response);
}

void CacheShard::remove(const KeyView& key, TimePoint requested_until) {
  Removed removed;
  const std::lock_guard lock(mutex_);
  StoredResponse* const response = lookup(key);
  if (response == nullptr || response->is_vary_note()) return;
  if (response->requested_at() <= requested_until) unlink(*response, removed);
}

void CacheShard::invalidate(std::uint64_t uri_hash, TimePoint now) {
  const std::lock_guard lock(mutex_);
  invalidated_.invalidate(uri_hash, now);
  ++counts_.invalidations;
}

void CacheShard::begin_purge(TimePoint now) {
  const std::lock_guard lock(mutex_);
  purged_at_ = std::max(purged_at_, now);
}

std::size_t CacheShard::purge(const Purge& purge) {
  std::size_t purged = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size();) {
    Removed removed;
    const std::lock_guard lock(mutex_);
    std::size_t examined = 0;
    const std::size_t end = std::min(bucket + kBucketsPerSlice, buckets_.size());
    for (; bucket < end && examined < kSlice; ++bucket) {
      for (auto at = index_.begin(bucket); at != index_.end(bucket); ++examined) {
        StoredResponse& response = *at++;
        KeyParts parts(response.key().text);
        const std::string_view authority = parts.next();
        const std::string_view path = parts.next();
        if (!matches(purge, authority, path)) continue;
        purged += !response.is_vary_note();
        unlink(response, removed);
      }
    }
  }
  return purged;
}

CacheShard::Counts CacheShard::counts() const {
  const std::lock_guard lock(mutex_);
  Counts counts = counts_;
  counts.bytes = table_bytes_ + held_;
  return counts;
}

}  // namespace spillway::cache
