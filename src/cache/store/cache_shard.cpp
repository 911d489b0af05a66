#include "cache/store/cache_shard.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "cache/rules/cache_key.hpp"

namespace spillway::cache {
namespace {

constexpr std::size_t kSegments = 64;  // in a shard, at least
constexpr std::size_t kMostSegmentBytes = std::size_t{256} << 10;
constexpr std::size_t kBytesForBucket = 1024;
constexpr std::size_t kBytesForStamp = 4096;
constexpr std::size_t kMallocOverhead = 16;
constexpr std::size_t kBucketsInSlice = 1024;

std::size_t segment_bytes_for(std::size_t max_bytes) {
  return std::max(std::min(std::bit_floor(max_bytes / kSegments), kMostSegmentBytes), page_bytes());
}

RecordKind mark(bool personal) {
  return personal ? RecordKind::unstorable_for_one : RecordKind::unstorable;
}

}  // namespace

CacheShard::CacheShard(std::size_t max_bytes)
    : segment_bytes_(segment_bytes_for(max_bytes)),
      pages_(max_bytes),
      index_(max_bytes / kBytesForBucket),
      stamps_(std::clamp<std::size_t>(max_bytes / kBytesForStamp, 64, 65536)),
      fifo_(max_bytes, segment_bytes_, index_, stamps_),
      fixed_bytes_(sizeof *this + pages_.book_bytes() + index_.bytes() + stamps_.bytes() +
                   fifo_.bytes()),
      capacity_(max_bytes - std::min(max_bytes, fixed_bytes_)) {}

StoredPtr CacheShard::find(const KeyView& key, std::string& names) {
  const std::lock_guard lock(mutex_);
  names.clear();
  Record* const record = index_.find(key, RecordKind::answer);
  if (record == nullptr) return {};
  if (record->kind == RecordKind::names) {
    S3Fifo::hit(*record);
    names.assign(record->note());
    return {};
  }
  if (stamps_.has_ended(key.uri_hash, record->requested_at())) return {};
  S3Fifo::hit(*record);
  return StoredPtr(static_cast<const StoredResponse&>(*record));
}

bool CacheShard::is_unstorable(const KeyView& key, bool personal, TimePoint now) {
  const std::lock_guard lock(mutex_);
  Record* const note = index_.find(key, mark(personal));
  if (note == nullptr || note->useless_after <= now) return false;
  S3Fifo::hit(*note);
  return true;
}

void CacheShard::mark_unstorable(const KeyView& key, bool personal, TimePoint now) {
  put_note(key, mark(personal), {}, now + kUnstorableFor, now);
}

bool CacheShard::put_note(const KeyView& key, RecordKind kind, std::string_view body,
                          TimePoint until, TimePoint now) {
  FreedRuns freed;
  Lock lock(mutex_);
  const std::size_t bytes = Record::note_bytes(key, body);
  if (bytes >= run_from()) return false;
  Slot* const slot = add(lock, false, bytes, now, freed);
  if (slot != nullptr) {
    if (Record* const old = index_.find(key, kind)) fifo_.unlink(*old, freed);
    Record& note = *Record::build_note(slot->room(), kind, key, body);
    note.useless_after = until;
    fifo_.link(*slot, note, false);
    keep_slack(now, freed);
  }
  give_back(lock, freed);
  return slot != nullptr;
}

bool CacheShard::put_names(const KeyView& primary, std::string_view names, TimePoint now) {
  {
    const std::lock_guard lock(mutex_);
    Record* const record = index_.find(primary, RecordKind::names);
    if (record != nullptr && record->kind == RecordKind::names && record->note() == names) {
      return true;
    }
  }
  return put_note(primary, RecordKind::names, names, kNever, now);
}

Block CacheShard::take(std::size_t bytes, TimePoint now) {
  const bool has_run = bytes >= run_from();
  bytes = has_run ? round_to_pages(bytes) : bytes;
  const std::size_t counted = has_run ? bytes : bytes + kMallocOverhead;
  Lock lock(mutex_);
  if (counted > capacity_) return {};  // it would empty the store and still not fit
  if (filling_ > 0 && filling_ + counted > capacity_ / 2) return {};
  if (!make_room(lock, counted, now)) return {};
  char* const memory = has_run ? pages_.take(bytes) : static_cast<char*>(std::malloc(bytes));
  if (memory == nullptr) return {};
  held_ += counted;
  filling_ += counted;
  return {memory, bytes, has_run};
}

void CacheShard::give_back(const Block& block) {
  if (block.memory == nullptr) return;
  if (block.has_run) {
    FreedRuns freed;
    freed.add(block.memory, block.bytes);
    give_back(freed);
    filling_ -= block.bytes;
  } else {
    std::free(block.memory);
    held_ -= block.bytes + kMallocOverhead;
    filling_ -= block.bytes + kMallocOverhead;
  }
}

bool CacheShard::is_ended(const Record& record) const {
  return record.requested_at() <= purged_at_ ||
         stamps_.has_ended(record.key().uri_hash, record.requested_at());
}

// In place of what is at its key, if there is anything.
bool CacheShard::may_link(const StoredResponse& response, const Record* old) const {
  if (is_ended(response)) return false;
  return old == nullptr ||
         (old->kind == RecordKind::answer && old->requested_at() <= response.requested_at());
}

// What is at its key instead, if it may be given to the same.
StoredPtr CacheShard::newer_than(const StoredResponse& response, const Record* old) const {
  if (old == nullptr || old->kind != RecordKind::answer || is_ended(*old)) return {};
  const auto& other = static_cast<const StoredResponse&>(*old);
  const bool is_newer = other.requested_at() > response.requested_at();
  return is_newer && (other.is_open() || !response.is_open()) ? StoredPtr(other) : StoredPtr();
}

// A long response keeps its run, without the pages that it did not need; a short one had better not
// have pages of its own.
bool CacheShard::keeps_run(const StoredResponse& response, Block& block) {
  if (!block.has_run || response.bytes() < run_from()) return false;
  const std::size_t used = round_to_pages(response.bytes());
  if (used < block.bytes) {
    FreedRuns freed;
    freed.add(block.memory + used, block.bytes - used);
    give_back(freed);
    filling_ -= block.bytes - used;
    block.bytes = used;
  }
  return true;
}

Record& CacheShard::link(StoredResponse& response, Block& block, Slot& slot, bool to_main) {
  Record* record = &response;
  if (slot.has_room()) {
    record = response.copy_to(slot.room());
  } else {
    response.has_run = true;
    response.set_bytes(block.bytes);
    filling_ -= block.bytes;
    block = {};
  }
  fifo_.link(slot, *record, to_main);
  return *record;
}

StoredPtr CacheShard::insert(StoredResponse& response, Block& block, TimePoint now) {
  const KeyView key = response.key();
  const bool has_run = keeps_run(response, block);
  response.shard = this;

  FreedRuns freed;
  Lock lock(mutex_);
  Record* old = index_.find(key, RecordKind::answer);
  Record* record = nullptr;
  if (may_link(response, old)) {
    if (old != nullptr && !has_run) record = fifo_.replace(*old, response, freed);
    if (record == nullptr) {
      const bool to_main = old != nullptr ? old->in_main : fifo_.left_lately(key);
      Slot* const slot = add(lock, to_main, has_run ? 0 : response.bytes(), now, freed);
      old = index_.find(key, RecordKind::answer);  // the lock may have been given away
      if (slot != nullptr && may_link(response, old)) {
        if (old != nullptr) {
          response.frequency = old->frequency;
          fifo_.unlink(*old, freed);
        }
        record = &link(response, block, *slot, to_main);
      }
    }
  }
  StoredPtr held;
  if (record != nullptr) {
    ++stores_;
    held = StoredPtr(static_cast<const StoredResponse&>(*record));
    keep_slack(now, freed);
  } else {
    held = newer_than(response, old);
  }
  give_back(lock, freed);
  return held;
}

void CacheShard::remove(const KeyView& key, TimePoint requested_until) {
  FreedRuns freed;
  Lock lock(mutex_);
  Record* const record = index_.find(key, RecordKind::answer);
  if (record != nullptr && record->kind == RecordKind::answer &&
      record->requested_at() <= requested_until) {
    fifo_.unlink(*record, freed);
  }
  give_back(lock, freed);
}

void CacheShard::invalidate(std::uint64_t uri_hash, TimePoint now) {
  const std::lock_guard lock(mutex_);
  stamps_.end(uri_hash, now);
  ++invalidations_;
}

void CacheShard::begin_purge(TimePoint now) {
  const std::lock_guard lock(mutex_);
  purged_at_ = std::max(purged_at_, now);
}

std::size_t CacheShard::purge(const Purge& purge) {
  std::size_t gone = 0;
  for (std::size_t bucket = 0; bucket < index_.buckets();) {
    FreedRuns freed;
    Lock lock(mutex_);
    std::size_t looked_at = 0;
    const std::size_t end = std::min(bucket + kBucketsInSlice, index_.buckets());
    for (; bucket < end && looked_at < kSlice; ++bucket) {
      for (Record* at = index_.first(bucket); at != nullptr;) {
        Record& record = *std::exchange(at, at->chain);
        ++looked_at;
        KeyParts parts(record.key().text);
        const std::string_view authority = parts.next();
        const std::string_view path = parts.next();
        if (!matches(purge, authority, path)) continue;
        gone += record.kind == RecordKind::answer;
        fifo_.unlink(record, freed);
      }
    }
    give_back(lock, freed);
  }
  return gone;
}

CacheShard::Counts CacheShard::counts() const {
  const std::lock_guard lock(mutex_);
  return {.bytes = fixed_bytes_ + held_,
          .answers = fifo_.answers(),
          .stores = stores_,
          .evictions = fifo_.evictions(),
          .invalidations = invalidations_,
          .examined = fifo_.examined()};
}

}  // namespace spillway::cache
