#include "proxy/jobs/keys_in_flight.hpp"

#include <utility>

namespace spillway::proxy {

KeyInFlight::KeyInFlight(KeyInFlight&& other) noexcept : scope_(other.scope_), use_(other.use_) {
  if (!other.is_held()) return;
  keys_ = std::exchange(other.keys_, nullptr);
  KeysInFlight::Shard& shard = keys_->shard_of(scope_);
  const std::lock_guard lock(shard.mutex);
  const auto place = shard.held.erase(shard.held.iterator_to(other));
  shard.held.insert(place, *this);
}

bool KeyInFlight::take(KeysInFlight& keys, const jobs::Digest& scope, KeyUse use) {
  release();
  KeysInFlight::Shard& shard = keys.shard_of(scope);
  const std::lock_guard lock(shard.mutex);
  for (const KeyInFlight& other : shard.held) {
    const bool excludes = use == KeyUse::live || other.use_ == KeyUse::live;
    if (excludes && other.scope_ == scope) return false;
  }
  keys_ = &keys;
  scope_ = scope;
  use_ = use;
  shard.held.push_back(*this);
  return true;
}

void KeyInFlight::release() {
  KeysInFlight* const keys = std::exchange(keys_, nullptr);
  if (keys == nullptr) return;
  KeysInFlight::Shard& shard = keys->shard_of(scope_);
  const std::lock_guard lock(shard.mutex);
  shard.held.erase(shard.held.iterator_to(*this));
}

}  // namespace spillway::proxy
