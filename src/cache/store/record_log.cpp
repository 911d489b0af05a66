#include "cache/store/record_log.hpp"

#include <new>

namespace spillway::cache {

Slot* RecordLog::add(std::size_t record_bytes) {
  const std::size_t bytes = slot_bytes(record_bytes);
  if (newest_ == nullptr || newest_->bytes - newest_->used < bytes) return nullptr;
  char* const at = reinterpret_cast<char*>(newest_) + newest_->used;
  newest_->used += bytes;
  return new (at) Slot{nullptr, newest_, bytes};
}

void RecordLog::open(char* memory, std::size_t bytes, FreedRuns& freed) {
  Segment* const before = newest_;
  newest_ = new (memory) Segment(bytes);
  newest_->older = before;
  (before == nullptr ? oldest_ : before->newer) = newest_;
  bytes_ += bytes;
  if (before != nullptr && before->linked == 0) remove(*before, freed);
}

void RecordLog::link(Slot& slot, Record& record) {
  slot.record = &record;
  record.slot = &slot;
  ++slot.segment->linked;
  if (!record.has_run) slot.segment->holders.fetch_add(1, std::memory_order_relaxed);
  bytes_ += record.outside_bytes();
}

void RecordLog::unlink(Record& record, FreedRuns& freed) {
  Segment& segment = *record.slot->segment;
  record.slot->record = nullptr;
  bytes_ -= record.outside_bytes();
  if (--segment.linked == 0 && &segment != newest_) remove(segment, freed);
}

Record& RecordLog::replace(Record& record, const Record& by, FreedRuns& freed) {
  Slot& slot = *record.slot;
  bytes_ -= record.outside_bytes();
  record.let_go(freed);  // not the segment, which holds itself
  Record& fresh = *by.copy_to(slot.room());
  --slot.segment->linked;
  link(slot, fresh);
  return fresh;
}

Slot* RecordLog::next_to_examine() {
  if (oldest_ == nullptr || oldest_->examined == oldest_->used) return nullptr;
  auto* const slot = reinterpret_cast<Slot*>(reinterpret_cast<char*>(oldest_) + oldest_->examined);
  oldest_->examined += slot->bytes;
  return slot;
}

void RecordLog::remove(Segment& segment, FreedRuns& freed) {
  (segment.older == nullptr ? oldest_ : segment.older->newer) = segment.newer;
  (segment.newer == nullptr ? newest_ : segment.newer->older) = segment.older;
  bytes_ -= segment.bytes;
  segment.let_go(freed);
}

}  // namespace spillway::cache
