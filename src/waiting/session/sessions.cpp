#include "waiting/session/sessions.hpp"

#include <algorithm>
#include <utility>

namespace spillway::waiting {

Session Sessions::begin(const TicketId& id, std::uint32_t generation, Time now, const Terms& terms,
                        Milliseconds most) {
  const Slot slot = pool_.take(id);
  Record& record = pool_[slot];
  record.most_ms = static_cast<std::uint32_t>(most.count());
  record.newest = generation;
  record.used = generation - 1;
  record.begun = record.last_use = record.issued = now;
  record.used_since = record.used_since_before = now;
  deadlines_.set(slot, due(record, terms));
  return {id, generation, now};
}

void Sessions::note_stood(const TicketId& id, const Stood& stood) { pool_[find(id)].stood = stood; }

std::optional<Stood> Sessions::stood(const TicketId& id) const {
  const Slot slot = find(id);
  return slot == kNoSlot ? std::nullopt : pool_[slot].stood;
}

void Sessions::forget_stood() {
  for (Slot slot = 0; slot < pool_.end(); ++slot) pool_[slot].stood.reset();
}

std::optional<Stood> Sessions::take_back(const TicketId& id) {
  const std::optional<Stood> stood = this->stood(id);
  if (stood) forget(find(id));
  return stood;
}

void Sessions::restore(const TicketId& id, Time begun, Time used, Time now, const Terms& terms,
                       Milliseconds most) {
  begin(id, 1, now, terms, most);
  const Slot slot = find(id);
  pool_[slot].begun = std::min(begun, now);
  pool_[slot].last_use = std::min(used, now);
  deadlines_.set(slot, due(pool_[slot], terms));
}

void Sessions::note_use(Slot slot, Time now, const Terms& terms) {
  Record& record = pool_[slot];
  record.last_use = now;
  deadlines_.set(slot, due(record, terms));
  if (uses_ && !std::exchange(record.is_in_uses, true)) uses_->push_back(slot);
}

void Sessions::keep_uses() {
  uses_.emplace();
  const std::vector<bool> taken = pool_.taken();
  for (Slot slot = 0; slot < taken.size(); ++slot) {
    if (!taken[slot]) continue;
    pool_[slot].is_in_uses = true;
    uses_->push_back(slot);
  }
}

// A slot may have another session by now, which is in the list only if it was used itself.
std::vector<TicketId> Sessions::take_used() {
  std::vector<TicketId> used;
  if (!uses_) return used;
  for (const Slot slot : *uses_) {
    if (std::exchange(pool_[slot].is_in_uses, false)) used.push_back(pool_[slot].id);
  }
  uses_->clear();
  return used;
}

std::optional<Place> Sessions::place_of(const TicketId& id) const {
  const Slot slot = find(id);
  if (slot == kNoSlot) return std::nullopt;
  return place_at(slot);
}

Place Sessions::place_at(Slot slot) const {
  const Record& record = pool_[slot];
  return {.id = record.id,
          .kind = Place::Kind::session,
          .since = record.begun,
          .used = record.last_use};
}

std::optional<Time> Sessions::begun(const TicketId& id) const {
  const Slot slot = find(id);
  if (slot == kNoSlot) return std::nullopt;
  return pool_[slot].begun;
}

Slot Sessions::list(Slot first, std::size_t most, std::vector<Place>& places) const {
  const auto last = static_cast<Slot>(std::min<std::size_t>(first + most, pool_.end()));
  for (Slot slot = first; slot < last; ++slot) {
    if (find(pool_[slot].id) == slot) places.push_back(place_at(slot));
  }
  return last;
}

bool Sessions::is_copy(const Record& record, std::uint32_t generation, Time now) {
  if (generation >= record.used) return false;
  // Since the first report of any newer one; no times are kept before those of the last two.
  const bool is_just_before = generation + 1 == record.used;
  const Time since = is_just_before ? record.used_since : record.used_since_before;
  return now - since > kInFlight;
}

Renewal Sessions::use(const TicketId& id, std::uint32_t generation, Time issued, Time now,
                      const Terms& terms) {
  const Slot slot = find(id);
  Record& record = pool_[slot];
  if (is_copy(record, generation, now)) {
    forget(slot);
    return {Use::copied, generation};
  }
  record.stood.reset();
  note_use(slot, now, terms);
  if (generation > record.newest) record.newest = generation;  // signed, so it was issued
  if (generation > record.used) {
    record.used = generation;
    record.used_since_before = std::exchange(record.used_since, now);
  }
  if (generation < record.used) return {Use::kept, generation};
  if (record.used == record.newest) {
    // A reissued pass states more than its age, so the time of the reissue counts.
    const Time since = record.reissued == 0 ? issued : std::max(issued, record.issued);
    if (now - since < kRenewAfter) return {Use::kept, generation};
    ++record.newest;
    record.reissued = 0;
    record.issued = now;
    return {Use::renewed, record.newest};
  }
  const Milliseconds age = now - record.issued;
  if (record.reissued == 0 && age < kReissueAfter) return {Use::kept, generation};
  if (record.reissued == 0 || age >= kReissue) {
    record.issued = now;
    if (++record.reissued > kMostReissues) {
      forget(slot);
      return {Use::copied, generation};
    }
  }
  return {Use::renewed, record.newest, kRenewAfter};
}

void Sessions::stay(const TicketId& id, Time now, const Terms& terms) {
  const Slot slot = find(id);
  if (slot != kNoSlot) note_use(slot, now, terms);
}

void Sessions::stay_all(Time now, const Terms& terms) {
  const std::vector<bool> taken = pool_.taken();
  for (Slot slot = 0; slot < taken.size(); ++slot) {
    if (taken[slot]) stay(pool_[slot].id, now, terms);
  }
}

std::optional<Session> Sessions::again(const TicketId& id, Time now, const Terms& terms) {
  const Slot slot = find(id);
  Record& record = pool_[slot];
  const bool is_late = now - record.begun > kSlice && now - record.issued >= kReissue;
  if (is_copy(record, 0, now) || (is_late && ++record.reissued > kMostReissues)) {
    forget(slot);
    return std::nullopt;
  }
  record.stood.reset();
  if (is_late) record.issued = now;
  note_use(slot, now, terms);
  return Session{record.id, record.newest, record.begun};
}

bool Sessions::end(const TicketId& id) {
  const Slot slot = find(id);
  if (slot == kNoSlot) return false;
  forget(slot);
  return true;
}

Time Sessions::latest_end(const Record& record, const Terms& terms) {
  const Milliseconds most(record.most_ms);
  return record.begun +
         (record.most_ms == 0 ? terms.session_ttl : std::min(most, terms.session_ttl));
}

// Adds kRenewAfter, since requests with a younger pass are not reported.
Time Sessions::due(const Record& record, const Terms& terms) {
  return std::min(record.last_use + kRenewAfter + terms.idle, latest_end(record, terms));
}

std::optional<Ended> Sessions::reason(const Record& record, Time now, const Terms& terms) {
  if (now >= latest_end(record, terms)) return Ended::too_long;
  if (now >= due(record, terms)) return Ended::idle;
  return std::nullopt;
}

void Sessions::forget(Slot slot) {
  deadlines_.clear(slot);
  pool_.give_back(slot);
}

}  // namespace spillway::waiting
