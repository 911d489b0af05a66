#include "overload/admission/excess.hpp"

#include <algorithm>

namespace spillway::overload {

ClassExcess::ClassExcess(std::span<const Excess> tenants, double rule_scale)
    : rule_scale_(rule_scale) {
  if (tenants.empty()) return;
  slots_.resize(std::bit_ceil(4 * tenants.size()));
  shift_ = 64 - std::countr_zero(slots_.size());
  for (const Excess& one : tenants) {
    std::size_t i = slot_of(one.tenant);
    while (slots_[i].chance > 0) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = one;
  }
}

std::vector<Excess> ClassExcess::list() const {
  std::vector<Excess> all;
  for (const Excess& slot : slots_) {
    if (slot.chance > 0) all.push_back(slot);
  }
  std::sort(all.begin(), all.end(), [](const Excess& a, const Excess& b) {
    return a.chance != b.chance ? a.chance > b.chance : a.tenant < b.tenant;
  });
  return all;
}

}  // namespace spillway::overload
