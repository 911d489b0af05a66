#include "proxy/jobs/keys_in_hand.hpp"

#include <utility>

namespace spillway::proxy {

KeyInHand::KeyInHand(KeyInHand&& other) noexcept : scope_(other.scope_), use_(other.use_) {
  if (!other.is_held()) return;
  keys_ = std::exchange(other.keys_, nullptr);
  KeysInHand::Shard& shard = keys_->shard_of(scope_);
  const std::lock_guard lock(shard.mutex);
  const auto place = shard.held.erase(shard.held.iterator_to(other));
  shard.held.insert(place, *this);
}

bool KeyInHand::take(KeysInHand& keys, const jobs::Digest& scope, KeyUse use) {
  release();
  KeysInHand::Shard& shard = keys.shard_of(scope);
  const std::lock_guard lock(shard.mutex);
  for (const KeyInHand& other : shard.held) {
    const bool excludes = use == KeyUse::live || other.use_ == KeyUse::live;
    if (excludes && other.scope_ == scope) return false;
  }
  keys_ = &keys;
  scope_ = scope;
  use_ = use;
  shard.held.push_back(*this);
  return true;
}

void KeyInHand::release() {
  KeysInHand* const keys = std::exchange(keys_, nullptr);
  if (keys == nullptr) return;
  KeysInHand::Shard& shard = keys->shard_of(scope_);
  const std::lock_guard lock(shard.mutex);
  shard.held.erase(shard.held.iterator_to(*this));
}

}  // namespace spillway::proxy
