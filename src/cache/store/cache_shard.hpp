// A part of a route's store, with its own lock, memory and order of eviction.
//
// Any thread. No more than kSlice records are looked at under one holding of the lock, and memory
// is given back to the system outside of it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "cache/rules/purge.hpp"
#include "cache/store/freed_runs.hpp"
#include "cache/store/page_runs.hpp"
#include "cache/store/record.hpp"
#include "cache/store/record_index.hpp"
#include "cache/store/s3_fifo.hpp"
#include "cache/store/stamps.hpp"
#include "cache/store/stored_response.hpp"

namespace spillway::cache {

// Memory of an answer on its way in.
struct Block {
  char* memory = nullptr;  // null: there is no room
  std::size_t bytes = 0;
  bool has_run = false;
};

class CacheShard {
 public:
  static constexpr Duration kUnstorableFor = std::chrono::seconds(10);
  static constexpr std::size_t kSlice = 64;
  static constexpr std::size_t kSlices = 4;  // for an insertion, and one for each segment it needs
  static constexpr std::size_t kStepsAhead = 16;
  // By an insertion that needs no more than a segment.
  static constexpr std::size_t kMostExamined = (kSlices + 1) * kSlice + kStepsAhead;

  // All of its memory counts, its tables too.
  explicit CacheShard(std::size_t max_bytes);

  // The answer at that key, or nothing; then, if there are any, the names that answers to it vary
  // by (else `names` is empty). Counts as a hit.
  StoredPtr find(const KeyView& key, std::string& names);
  // Lately an answer to this key could not be stored, one that was one person's or another.
  bool is_unstorable(const KeyView& key, bool personal, TimePoint now);
  void mark_unstorable(const KeyView& key, bool personal, TimePoint now);

  // The names that answers to it vary by, in place of an answer. False: there is no room.
  bool put_names(const KeyView& primary, std::string_view names, TimePoint now);

  // Memory of answers on their way in; they get no more than half of all. From so many bytes on it
  // is a run of pages, which may be inserted as it is.
  std::size_t run_from() const {
    return std::max(segment_bytes_ / 4, std::min(segment_bytes_ / 2, 4 * page_bytes()));
  }
  Block take(std::size_t bytes, TimePoint now);
  void give_back(const Block& block);

  // What the store holds for its key afterwards: see Filling::commit(). A response in a run becomes
  // part of the store if it is what is held, and `block` is empty then; another is copied.
  StoredPtr insert(StoredResponse& response, Block& block, TimePoint now);

  // The answer at that key leaves, if it was asked for until then.
  void remove(const KeyView& key, TimePoint requested_until);
  void invalidate(std::uint64_t uri_hash, TimePoint now);

  // What was asked for until then and is not stored yet will not be.
  void begin_purge(TimePoint now);
  std::size_t purge(const Purge& purge);

  // Of readers: memory that nobody reads any more.
  void give_back(FreedRuns& freed);

  struct Counts {
    std::uint64_t bytes = 0;
    std::uint64_t answers = 0;
    std::uint64_t stores = 0;
    std::uint64_t evictions = 0;
    std::uint64_t invalidations = 0;
    std::uint64_t examined = 0;  // records, to find who leaves
  };
  Counts counts() const;

 private:
  using Lock = std::unique_lock<std::mutex>;

  // Lets the next ones leave, in slices between which others may take the lock, until done();
  // enough(freed) tells when what will be given back at the end of a slice will do.
  template <class Enough, class Done>
  bool evict_until(Lock& lock, std::size_t bytes, TimePoint now, Enough enough, Done done);
  bool make_room(Lock& lock, std::size_t bytes, TimePoint now);
  bool make_spare(Lock& lock, TimePoint now);
  bool take_spare();
  void keep_slack(TimePoint now, FreedRuns& freed);
  bool step(TimePoint now, std::size_t& chances, FreedRuns& freed);
  void give_back(Lock& lock, FreedRuns& freed);

  bool has_room(std::size_t bytes) const { return held_ + bytes <= capacity_; }
  std::size_t free_bytes() const;
  // The slot is to be linked before the lock is given away.
  Slot* add(Lock& lock, bool to_main, std::size_t record_bytes, TimePoint now, FreedRuns& freed);

  bool is_ended(const Record& record) const;
  bool may_link(const StoredResponse& response, const Record* old) const;
  StoredPtr newer_than(const StoredResponse& response, const Record* old) const;
  bool keeps_run(const StoredResponse& response, Block& block);
  Record& link(StoredResponse& response, Block& block, Slot& slot, bool to_main);
  bool put_note(const KeyView& key, RecordKind kind, std::string_view body, TimePoint until,
                TimePoint now);

  mutable std::mutex mutex_;
  const std::size_t segment_bytes_;
  PageRuns pages_;
  RecordIndex index_;
  Stamps stamps_;
  S3Fifo fifo_;
  std::size_t fixed_bytes_;
  std::size_t capacity_;  // without them
  std::atomic<std::size_t> held_{0};
  std::atomic<std::size_t> filling_{0};  // of these, of answers on their way in
  TimePoint purged_at_ = TimePoint::min();
  std::uint64_t stores_ = 0;
  std::uint64_t invalidations_ = 0;
};

}  // namespace spillway::cache
