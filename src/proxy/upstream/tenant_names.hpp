// Who the tenants above their share are: decisions know only ids, and the operator wants names. Any
// thread; bounded, the one named first is forgotten first.
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
  static constexpr std::size_t kMost = 256;

  void remember(TenantId tenant, std::string_view source, std::string_view value) {
    const std::lock_guard lock(mutex_);
    if (names_.contains(tenant)) return;
    if (names_.size() == kMost) names_.erase(ring_[next_]);
    names_.emplace(tenant, std::string(source) + ' ' + std::string(value));
    ring_[next_] = tenant;
    next_ = (next_ + 1) % kMost;
  }

  // Empty for one that is not known (any more).
  std::string find(TenantId tenant) const {
    const std::lock_guard lock(mutex_);
    const auto known = names_.find(tenant);
    return known == names_.end() ? std::string() : known->second;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<TenantId, std::string> names_;
  std::array<TenantId, kMost> ring_{};  // in the order of naming, circular
  std::size_t next_ = 0;
};

}  // namespace spillway::proxy
