// Who leaves a full store: S3-FIFO (Yang, Zhang, Qiu, Yue, Rashmi, "FIFO queues are all you need
// for cache eviction", SOSP 2023).
//
// New records enter a small queue, a tenth of the memory. Those that were asked for twice while
// they were in it go on to the main queue, the others leave and are remembered for a while
// (ghost.hpp): who comes back so soon enters the main queue at once. A record that was asked for
// since it entered the main queue is put back to its newest end instead of leaving, up to three
// times. So what is asked for once, be it a scan of a million keys, passes through a tenth of the
// memory.
//
// Why not the others: W-TinyLFU and segmented LRU move a record with every hit, under the lock that
// all workers share, and W-TinyLFU counts every request in a sketch. Here a hit raises a counter in
// the record that it has read anyway. And queues that are only ever appended to and taken from at
// the other end can be kept without holes (record_log.hpp).
//
// Deviations: sizes are in bytes; how many records are put back for one insertion is bounded; what
// nobody may be given any more leaves without having been counted; a record whose memory would not
// be freed, since somebody reads it, stays if it may.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/time.hpp"
#include "cache/store/freed_runs.hpp"
#include "cache/store/ghost.hpp"
#include "cache/store/record.hpp"
#include "cache/store/record_index.hpp"
#include "cache/store/record_log.hpp"
#include "cache/store/stamps.hpp"

namespace spillway::cache {

class S3Fifo {
 public:
  static constexpr std::uint8_t kMostFrequency = 3;
  static constexpr std::uint8_t kToMain = 2;  // hits in the small queue
  static constexpr std::size_t kSpares = 2;

  // Keeps references: what it evicts is removed from the index.
  S3Fifo(std::size_t max_bytes, std::size_t segment_bytes, RecordIndex& index, const Stamps& stamps)
      : segment_bytes_(segment_bytes),
        small_bytes_(max_bytes / 10),
        index_(index),
        stamps_(stamps),
        ghost_(max_bytes / 1024, max_bytes / 10 * 9) {}

  // Whether a new record belongs into the main queue, since its key left lately.
  bool left_lately(const KeyView& key) const { return ghost_.contains(key.hash); }

  // A slot in that queue, to be linked next; null when there is no spare segment for it.
  Slot* add(bool to_main, std::size_t record_bytes, FreedRuns& freed);
  // Also adds it to the index.
  void link(Slot& slot, Record& record, bool to_main);
  // A newer answer in the place and rank of one, if it fits in there and nobody reads the old one.
  // Null: it does not.
  Record* replace(Record& record, const Record& by, FreedRuns& freed);
  // It leaves for another reason than for want of room.
  void unlink(Record& record, FreedRuns& freed);

  static void hit(Record& record) {
    if (record.frequency < kMostFrequency) ++record.frequency;
  }

  // Looks at the next record that may have to leave. `chances`: how many may still be put back to
  // the newest end of the main queue. False when there is none in the store.
  bool step(TimePoint now, std::size_t& chances, FreedRuns& freed);

  // Segments that wait to be used.
  std::size_t spares() const { return spares_; }
  bool wants_spare() const { return spares_ < kSpares; }
  void give_spare(char* segment) { spare_[spares_++] = segment; }
  char* take_spare() { return spare_[--spares_]; }

  std::uint64_t answers() const { return answers_; }
  std::uint64_t evictions() const { return evictions_; }
  std::uint64_t examined() const { return examined_; }
  std::size_t bytes() const { return ghost_.bytes(); }

 private:
  RecordLog& log_of(const Record& record) { return record.in_main ? main_ : small_; }
  bool stays(const Record& record) const;
  bool is_useless(const Record& record, TimePoint now) const;
  bool move_to_main(Record& record, FreedRuns& freed);
  void collect_spares(FreedRuns& freed);

  std::size_t segment_bytes_;
  std::size_t small_bytes_;
  RecordIndex& index_;
  const Stamps& stamps_;
  RecordLog small_;
  RecordLog main_;
  Ghost ghost_;
  std::array<char*, kSpares> spare_{};
  std::size_t spares_ = 0;
  std::uint64_t answers_ = 0;
  std::uint64_t evictions_ = 0;  // of answers
  std::uint64_t examined_ = 0;
};

}  // namespace spillway::cache
