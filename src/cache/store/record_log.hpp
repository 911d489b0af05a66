// Records in the order in which they were put in, one after the other in segments of equal size.
//
// A queue that is kept so costs no memory but its segments: nothing is freed on its own, so there
// are no holes; when the oldest segment has been gone through, and what is to stay of it has been
// copied elsewhere, it is free whole. (Yang, Yue, Rashmi, "Segcache: a memory-efficient and
// scalable in-memory key-value cache for small objects", NSDI 2021; Rumble, Kejriwal, Ousterhout,
// "Log-structured memory for DRAM-based storage", FAST 2014.) Records with a run of pages of their
// own have their slot only in it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cache/store/freed_runs.hpp"
#include "cache/store/record.hpp"

namespace spillway::cache {

class RecordLog;

// The beginning of a run of pages; slots follow. Freed when it is out of its log and nobody reads a
// record in it.
struct Segment {
  explicit Segment(std::size_t its_bytes) : bytes(its_bytes), used(sizeof(Segment)) {}

  void let_go(FreedRuns& freed) {
    if (holders.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      freed.add(reinterpret_cast<char*>(this), bytes);
    }
  }

  std::size_t bytes;
  std::size_t used;
  std::size_t examined = sizeof(Segment);  // up to where next_to_examine() has been
  std::size_t linked = 0;                  // records
  std::atomic<std::uint32_t> holders{1};   // the log, and the records in it that live
  Segment* older = nullptr;
  Segment* newer = nullptr;
};

// Where a record is linked from; one in a segment follows its slot.
struct Slot {
  Record* record;  // null when it is linked no more
  Segment* segment;
  std::size_t bytes;  // up to the next slot
  bool has_room() const { return bytes > sizeof(Slot); }
  char* room() { return reinterpret_cast<char*>(this + 1); }
};

class RecordLog {
 public:
  static std::size_t slot_bytes(std::size_t record_bytes) {
    return sizeof(Slot) + (record_bytes + alignof(Slot) - 1) / alignof(Slot) * alignof(Slot);
  }

  bool empty() const { return oldest_ == nullptr; }
  // Of the segments, and of the runs that the linked records have outside.
  std::size_t bytes() const { return bytes_; }

  // A new slot with room for a record of so many bytes, 0 for one that is elsewhere; it must be
  // linked next. Null when the newest segment is full: open() another.
  Slot* add(std::size_t record_bytes);
  void open(char* memory, std::size_t bytes, FreedRuns& freed);

  void link(Slot& slot, Record& record);
  // The record is linked no more. Frees the segment if it was the last one, unless it is the
  // newest.
  void unlink(Record& record, FreedRuns& freed);

  // Another record in the memory of one that nobody reads, which is gone then; it must be no
  // bigger.
  static bool can_replace(const Record& record, std::size_t by_bytes) {
    return !record.has_run && !record.is_read() && slot_bytes(by_bytes) <= record.slot->bytes;
  }
  Record& replace(Record& record, const Record& by, FreedRuns& freed);

  // From the oldest on; slots that are not linked any more as well. Null when the oldest segment
  // has been gone through: close_oldest() then.
  Slot* next_to_examine();
  void close_oldest(FreedRuns& freed) { remove(*oldest_, freed); }

 private:
  void remove(Segment& segment, FreedRuns& freed);

  Segment* oldest_ = nullptr;
  Segment* newest_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace spillway::cache
