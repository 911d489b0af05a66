// A part of a route's store with its own lock, memory limit and eviction order.
//
// Thread-safe. At most kSlice responses are examined while the lock is held, and blocks are freed
// without it. Counted against max_bytes: the tables, and every block from its allocation until it
// is freed, whether it is being filled, stored, or only pinned by a reader.
#pragma once

#include <atomic>
#include <boost/intrusive/unordered_set.hpp>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/time.hpp"
#include "cache/rules/purge.hpp"
#include "cache/store/invalidation_times.hpp"
#include "cache/store/s3_fifo.hpp"
#include "cache/store/stored_response.hpp"

namespace spillway::cache {

// A response that is being filled.
using FillingPtr = boost::intrusive_ptr<StoredResponse>;

class CacheShard {
 public:
  static constexpr Duration kUnstorableFor = std::chrono::seconds(10);
  static constexpr std::size_t kSlice = 64;
  static constexpr Duration kFullFor = std::chrono::seconds(3);

  explicit CacheShard(std::size_t max_bytes);
  ~CacheShard();

  // The response or vary note for that key, or null. Counts as a hit.
  StoredPtr find(const KeyView& key);
  // Whether a response could not be stored during the last kUnstorableFor. By the hash alone, in a
  // table of fixed size: a mark may be overwritten by another.
  bool is_unstorable(std::uint64_t hash, TimePoint now) const;
  void mark_unstorable(std::uint64_t hash, TimePoint now);

  // A new response with room for this much content. Null: there is no room. Responses being filled
  // get at most half of the memory; a single one may get more.
  FillingPtr allocate(const ResponseParts& parts, std::size_t content_bytes, TimePoint now);
  // Moves it to another block with room for this much content. Null: no room; the response is lost.
  FillingPtr resize(FillingPtr response, std::size_t content_bytes, TimePoint now);

  // Stores a filled response, replacing an older one. Returns the same as Filling::commit().
  StoredPtr insert(StoredResponse& response);
  // Allocates, fills and stores a response in one call.
  StoredPtr store(const ResponseParts& parts, std::string_view content, TimePoint now);

  // A response found no room during the last kFullFor: readers pin the stored ones, or those being
  // filled use up their half.
  bool is_pinned_full(TimePoint now) const { return is_before(now, pinned_full_until_); }
  bool is_filling_full(TimePoint now) const { return is_before(now, filling_full_until_); }

  // Removes the response for that key if it was requested no later than that.
  void remove(const KeyView& key, TimePoint requested_until);
  void invalidate(std::uint64_t uri_hash, TimePoint now);

  // Responses requested until now that are not stored yet will not be stored.
  void begin_purge(TimePoint now);
  // Returns how many responses were removed.
  std::size_t purge(const Purge& purge);

  struct Counts {
    std::uint64_t bytes = 0;
    std::uint64_t responses = 0;
    std::uint64_t stores = 0;
    std::uint64_t evictions = 0;
    std::uint64_t invalidations = 0;
  };
  Counts counts() const;

 private:
  friend class StoredResponse;

  // The store's own reference.
  static void let_go(const StoredResponse* response) { intrusive_ptr_release(response); }
  // Responses that left the store, to be released after the lock.
  struct Removed {
    ~Removed() { list.clear_and_dispose(let_go); }
    ResponseList list;
  };
  struct KeyOf {
    using type = KeyView;
    KeyView operator()(const StoredResponse& response) const { return response.key(); }
  };
  struct Hash {
    std::size_t operator()(const KeyView& key) const { return key.hash; }
  };
  struct Equal {
    bool operator()(const KeyView& a, const KeyView& b) const { return a.text == b.text; }
  };
  using Index = boost::intrusive::unordered_set<
      StoredResponse, boost::intrusive::key_of_value<KeyOf>, boost::intrusive::hash<Hash>,
      boost::intrusive::equal<Equal>, boost::intrusive::compare_hash<true>,
      boost::intrusive::power_2_buckets<true>, boost::intrusive::constant_time_size<false>>;
  struct Mark {
    std::uint64_t hash = 0;
    TimePoint until = TimePoint::min();
  };

  StoredResponse* lookup(const KeyView& key);
  bool is_invalid(const StoredResponse& response) const {
    return invalidated_.is_invalid(response.head_.uri_hash, response.requested_at());
  }
  static bool is_before(TimePoint now, const std::atomic<TimePoint::rep>& until) {
    return now.time_since_epoch().count() < until.load(std::memory_order_relaxed);
  }
  bool reserve(std::size_t bytes, TimePoint now);
  enum class Held : bool { by_stored, by_filling };
  void release(std::size_t bytes, Held held);
  void discard(StoredResponse& response);
  void remove_from_index(StoredResponse& response, Removed& removed);
  void unlink(StoredResponse& response, Removed& removed);
  std::size_t slot_of(std::uint64_t hash) const { return (hash >> 8) & (marks_.size() - 1); }

  mutable std::mutex mutex_;
  std::vector<Index::bucket_type> buckets_;
  Index index_;
  S3Fifo queues_;
  InvalidationTimes invalidated_;
  std::vector<Mark> marks_;
  const std::size_t table_bytes_;
  const std::size_t capacity_;  // without the tables
  std::atomic<std::size_t> held_{0};
  std::atomic<std::size_t> filling_{0};  // included in held_
  std::atomic<TimePoint::rep> pinned_full_until_{TimePoint::min().time_since_epoch().count()};
  std::atomic<TimePoint::rep> filling_full_until_{TimePoint::min().time_since_epoch().count()};
  TimePoint purged_at_ = TimePoint::min();
  Counts counts_;
};

}  // namespace spillway::cache
