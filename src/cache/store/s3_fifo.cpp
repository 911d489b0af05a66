#include "cache/store/s3_fifo.hpp"

namespace spillway::cache {

Slot* S3Fifo::add(bool to_main, std::size_t record_bytes, FreedRuns& freed) {
  RecordLog& log = to_main ? main_ : small_;
  if (Slot* const slot = log.add(record_bytes)) return slot;
  if (spares_ == 0) return nullptr;
  log.open(take_spare(), segment_bytes_, freed);
  return log.add(record_bytes);
}

void S3Fifo::link(Slot& slot, Record& record, bool to_main) {
  record.in_main = to_main;
  log_of(record).link(slot, record);
  index_.add(record);
  if (to_main) ghost_.forget(record.key().hash);
  answers_ += record.kind == RecordKind::answer;
}

// What is asked for much is stored anew much: without this the queues would be full of holes.
Record* S3Fifo::replace(Record& record, const Record& by, FreedRuns& freed) {
  if (!RecordLog::can_replace(record, by.bytes())) return nullptr;
  const bool in_main = record.in_main;
  const std::uint8_t frequency = record.frequency;
  Record* const chain = record.chain;
  Record& fresh = log_of(record).replace(record, by, freed);  // at the same address
  fresh.in_main = in_main;
  fresh.frequency = frequency;
  fresh.chain = chain;
  return &fresh;
}

void S3Fifo::unlink(Record& record, FreedRuns& freed) {
  index_.remove(record);
  answers_ -= record.kind == RecordKind::answer;
  log_of(record).unlink(record, freed);
  record.let_go(freed);
  collect_spares(freed);
}

bool S3Fifo::is_useless(const Record& record, TimePoint now) const {
  return record.useless_after <= now ||
         stamps_.has_ended(record.key().uri_hash, record.requested_at());
}

bool S3Fifo::stays(const Record& record) const {
  return record.frequency >= (record.in_main ? 1 : kToMain) || record.is_outside_read();
}

bool S3Fifo::move_to_main(Record& record, FreedRuns& freed) {
  Slot* const slot = add(true, record.has_run ? 0 : record.bytes(), freed);
  if (slot == nullptr) return false;
  const auto frequency = static_cast<std::uint8_t>(!record.in_main        ? 0
                                                   : record.frequency > 0 ? record.frequency - 1
                                                                          : 0);
  if (record.has_run) {
    log_of(record).unlink(record, freed);
    record.in_main = true;
    record.frequency = frequency;
    main_.link(*slot, record);
    return true;
  }
  Record& copy = *record.copy_to(slot->room());
  copy.in_main = true;
  copy.frequency = frequency;
  index_.replace(record, copy);
  main_.link(*slot, copy);
  log_of(record).unlink(record, freed);
  record.let_go(freed);
  return true;
}

bool S3Fifo::step(TimePoint now, std::size_t& chances, FreedRuns& freed) {
  RecordLog& log = main_.empty() || small_.bytes() > small_bytes_ ? small_ : main_;
  if (log.empty()) return false;
  Slot* const slot = log.next_to_examine();
  if (slot == nullptr) {
    log.close_oldest(freed);
    collect_spares(freed);
    return true;
  }
  ++examined_;
  if (slot->record == nullptr) return true;
  Record& record = *slot->record;
  const bool is_of_use = !is_useless(record, now);
  if (is_of_use && stays(record) && (!record.in_main || chances > 0)) {
    chances -= record.in_main;
    if (move_to_main(record, freed)) {
      collect_spares(freed);
      return true;
    }
  }
  if (record.kind == RecordKind::answer) ++evictions_;
  if (is_of_use && !record.in_main) ghost_.add(record.key().hash, record.bytes());
  unlink(record, freed);
  return true;
}

void S3Fifo::collect_spares(FreedRuns& freed) {
  while (wants_spare()) {
    FreedRuns::Run* const run = freed.pop(segment_bytes_);
    if (run == nullptr) return;
    give_spare(run->memory());
  }
}

}  // namespace spillway::cache
