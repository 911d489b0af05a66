#include "proxy/jobs/keys_in_flight.hpp"

#include <algorithm>
#include <utility>

namespace spillway::proxy {

KeyInFlight::KeyInFlight(KeyInFlight&& other) noexcept
    : scope_(other.scope_), use_(other.use_), is_shared_(other.is_shared_) {
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
  is_shared_ = false;
  shard.held.push_back(*this);
  return true;
}

void KeyInFlight::share() {
  const std::lock_guard lock(keys_->shard_of(scope_).mutex);
  is_shared_ = true;
}

void KeyInFlight::release() {
  KeysInFlight* const keys = std::exchange(keys_, nullptr);
  if (keys == nullptr) return;
  {
    KeysInFlight::Shard& shard = keys->shard_of(scope_);
    const std::lock_guard lock(shard.mutex);
    shard.held.erase(shard.held.iterator_to(*this));
  }
  if (!is_shared_ || !keys->is_shared_.load(std::memory_order_relaxed)) return;
  keys->let_go(scope_);
  if (keys->tell_) keys->tell_();
}

void KeysInFlight::let_go(const jobs::Digest& scope) {
  const std::lock_guard lock(let_go_mutex_);
  let_go_.push_back(scope);
  let_go_count_ = let_go_.size();
}

std::vector<jobs::Digest> KeysInFlight::take_free() {
  std::vector<jobs::Digest> free;
  {
    const std::lock_guard lock(let_go_mutex_);
    free.swap(let_go_);
    let_go_count_ = 0;
  }
  std::erase_if(free, [this](const jobs::Digest& scope) { return has_shared(scope); });
  return free;
}

bool KeysInFlight::has_shared(const jobs::Digest& scope) {
  Shard& shard = shard_of(scope);
  const std::lock_guard lock(shard.mutex);
  return std::any_of(shard.held.begin(), shard.held.end(),
                     [&](const KeyInFlight& one) { return one.is_shared_ && one.scope_ == scope; });
}

}  // namespace spillway::proxy
