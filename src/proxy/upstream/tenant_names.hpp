// Names of the tenants above their share, by id: decisions use ids, /state shows names.
// Thread-safe. Bounded: the oldest entry is evicted first.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/ids.hpp"

namespace spillway::proxy {

class TenantNames {
 public:
  static constexpr std::size_t kMaxNames = 256;

  void remember(TenantId tenant, std::string_view source, std::string_view value) {
    const std::lock_guard lock(mutex_);
    if (names_.contains(tenant)) return;
    if (names_.size() == kMaxNames) names_.erase(ring_[next_]);
    names_.emplace(tenant, std::string(source) + ' ' + std::string(value));
    ring_[next_] = tenant;
    next_ = (next_ + 1) % kMaxNames;
  }

  // Empty for an unknown or evicted tenant.
  std::string find(TenantId tenant) const {
    const std::lock_guard lock(mutex_);
    const auto known = names_.find(tenant);
    return known == names_.end() ? std::string() : known->second;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<TenantId, std::string> names_;
  std::array<TenantId, kMaxNames> ring_{};  // in order of insertion, circular
  std::size_t next_ = 0;
};

}  // namespace spillway::proxy
