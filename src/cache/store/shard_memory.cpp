// How a shard comes by memory and gets rid of it.
#include <array>

#include "cache/store/cache_shard.hpp"

namespace spillway::cache {
namespace {

constexpr std::size_t kSlack = 2;  // segments
constexpr std::size_t kChances = 16;
constexpr std::size_t kBytesForChance = 1024;

}  // namespace

// What can be used without anybody leaving.
std::size_t CacheShard::free_bytes() const {
  const std::size_t held = held_;
  return (held < capacity_ ? capacity_ - held : 0) + fifo_.spares() * segment_bytes_;
}

bool CacheShard::step(TimePoint now, std::size_t& chances, FreedRuns& freed) {
  // Who stays needs a place to go to.
  if (fifo_.spares() == 0) take_spare();
  return fifo_.step(now, chances, freed);
}

template <class Enough, class Done>
bool CacheShard::evict_until(Lock& lock, std::size_t bytes, TimePoint now, Enough enough,
                             Done done) {
  std::size_t chances = kChances + bytes / kBytesForChance;
  std::size_t slices = kSlices + bytes / segment_bytes_;
  while (!done()) {
    if (slices-- == 0) return false;
    FreedRuns freed;
    bool someone = true;
    for (std::size_t i = 0; i < kSlice && someone && !enough(freed); ++i) {
      someone = step(now, chances, freed);
    }
    if (!someone && freed.empty()) return false;
    give_back(lock, freed);
    lock.lock();
  }
  return true;
}

// So many bytes, and two segments beside them: those who stay and those who come in small pieces
// are not to be driven out by one that is big.
bool CacheShard::make_room(Lock& lock, std::size_t bytes, TimePoint now) {
  const auto enough = [&](FreedRuns& freed) {
    if (free_bytes() + freed.bytes() < bytes + kSlack * segment_bytes_) return false;
    while (held_ - freed.bytes() + bytes > capacity_ && fifo_.spares() > 0) {
      freed.add(fifo_.take_spare(), segment_bytes_);
    }
    return held_ - freed.bytes() + bytes <= capacity_;
  };
  const auto done = [&] {
    return free_bytes() >= bytes + kSlack * segment_bytes_ && has_room(bytes);
  };
  return evict_until(lock, bytes, now, enough, done) || has_room(bytes);
}

// A segment to put records into.
bool CacheShard::make_spare(Lock& lock, TimePoint now) {
  const auto enough = [&](FreedRuns& freed) {
    return fifo_.spares() > 0 || held_ - freed.bytes() + segment_bytes_ <= capacity_;
  };
  const auto done = [&] { return fifo_.spares() > 0 || take_spare(); };
  return evict_until(lock, segment_bytes_, now, enough, done);
}

bool CacheShard::take_spare() {
  if (!has_room(segment_bytes_)) return false;
  char* const segment = pages_.take(segment_bytes_);
  if (segment == nullptr) return false;
  held_ += segment_bytes_;
  fifo_.give_spare(segment);
  return true;
}

// Looks ahead of what is going to be needed, a little with each insertion.
void CacheShard::keep_slack(TimePoint now, FreedRuns& freed) {
  std::size_t chances = kStepsAhead;
  for (std::size_t i = 0; i < kStepsAhead; ++i) {
    if (free_bytes() + freed.bytes() >= kSlack * segment_bytes_) return;
    if (!step(now, chances, freed)) return;
  }
}

Slot* CacheShard::add(Lock& lock, bool to_main, std::size_t record_bytes, TimePoint now,
                      FreedRuns& freed) {
  for (;;) {
    if (Slot* const slot = fifo_.add(to_main, record_bytes, freed)) return slot;
    if (!make_spare(lock, now)) return nullptr;
  }
}

void CacheShard::give_back(FreedRuns& freed) {
  struct Gone {
    char* memory;
    std::size_t bytes;
  };
  std::array<Gone, kSlice> gone;
  while (!freed.empty()) {
    std::size_t count = 0;
    while (count < gone.size()) {
      FreedRuns::Run* const run = freed.pop();
      if (run == nullptr) break;
      gone[count++] = {run->memory(), run->bytes};
      PageRuns::discard(run->memory(), run->bytes);
    }
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < count; ++i) {
      pages_.give_back(gone[i].memory, gone[i].bytes);
      held_ -= gone[i].bytes;
    }
  }
}

// Gives the lock away.
void CacheShard::give_back(Lock& lock, FreedRuns& freed) {
  lock.unlock();
  if (!freed.empty()) give_back(freed);
}

}  // namespace spillway::cache
