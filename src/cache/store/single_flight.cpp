#include "cache/store/single_flight.hpp"

namespace spillway::cache {

SingleFlight::SingleFlight() = default;

SingleFlight::Flight** SingleFlight::Shard::find(std::uint64_t hash) {
  Flight** at = &buckets[(hash >> 8) % kBuckets];
  while (*at != nullptr && (*at)->hash != hash) at = &(*at)->next;
  return at;
}

void SingleFlight::Shard::begin(std::uint64_t hash) {
  if (free == nullptr) {
    blocks.push_back(std::make_unique<Flight[]>(kFlightsPerBlock));
    for (std::size_t i = 0; i < kFlightsPerBlock; ++i) {
      blocks.back()[i].next = free;
      free = &blocks.back()[i];
    }
  }
  Flight* const flight = free;
  free = flight->next;
  Flight*& bucket = buckets[(hash >> 8) % kBuckets];
  *flight = {.hash = hash, .next = bucket};
  bucket = flight;
}

void SingleFlight::Shard::end(Flight** at) {
  Flight* const flight = *at;
  *at = flight->next;
  flight->next = free;
  free = flight;
}

SingleFlight::Role SingleFlight::join(std::uint64_t hash, Follower& follower) {
  Shard& shard = shard_of(hash);
  const std::lock_guard lock(shard.mutex);
  follower.landing = Landing::none;
  follower.hash_ = hash;
  follower.next = follower.previous_ = nullptr;
  Flight* const flight = *shard.find(hash);
  if (flight == nullptr) {
    shard.begin(hash);
    return Role::leader;
  }
  follower.waits_ = true;
  follower.previous_ = flight->last;
  (flight->last == nullptr ? flight->first : flight->last->next) = &follower;
  flight->last = &follower;
  return Role::follower;
}

bool SingleFlight::try_lead(std::uint64_t hash) {
  Shard& shard = shard_of(hash);
  const std::lock_guard lock(shard.mutex);
  if (*shard.find(hash) != nullptr) return false;
  shard.begin(hash);
  return true;
}

Follower* SingleFlight::land(std::uint64_t hash, Landing how) {
  Shard& shard = shard_of(hash);
  const std::lock_guard lock(shard.mutex);
  Flight** const at = shard.find(hash);
  if (*at == nullptr) return nullptr;
  Follower* const first = (*at)->first;
  shard.end(at);
  for (Follower* follower = first; follower != nullptr; follower = follower->next) {
    follower->landing = how;
    follower->waits_ = false;
  }
  return first;
}

Follower* SingleFlight::hand_over(std::uint64_t hash) {
  Shard& shard = shard_of(hash);
  const std::lock_guard lock(shard.mutex);
  Flight** const at = shard.find(hash);
  if (*at == nullptr) return nullptr;
  Flight& flight = **at;
  Follower* const heir = flight.first;
  if (heir == nullptr) {
    shard.end(at);
    return nullptr;
  }
  flight.first = heir->next;
  (flight.first == nullptr ? flight.last : flight.first->previous_) = nullptr;
  heir->next = nullptr;
  heir->landing = Landing::leads;
  heir->waits_ = false;
  return heir;
}

Withdrawal SingleFlight::leave(Follower& follower) {
  Shard& shard = shard_of(follower.hash_);
  const std::lock_guard lock(shard.mutex);
  if (!follower.waits_) return Withdrawal::too_late;
  Flight& flight = **shard.find(follower.hash_);
  (follower.previous_ == nullptr ? flight.first : follower.previous_->next) = follower.next;
  (follower.next == nullptr ? flight.last : follower.next->previous_) = follower.previous_;
  follower.waits_ = false;
  return Withdrawal::withdrawn;
}

std::size_t SingleFlight::bytes() const {
  std::size_t bytes = sizeof *this;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    bytes += shard.blocks.size() * Shard::kFlightsPerBlock * sizeof(Flight);
  }
  return bytes;
}

}  // namespace spillway::cache
