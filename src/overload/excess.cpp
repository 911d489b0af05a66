#include "overload/excess.hpp"

#include <algorithm>

namespace spillway::overload {

ClassExcess::ClassExcess(std::span<const Excess> tenants, double relief) : relief_(relief) {
  if (tenants.empty()) return;
  places_.resize(std::bit_ceil(4 * tenants.size()));
  shift_ = 64 - std::countr_zero(places_.size());
  for (const Excess& one : tenants) {
    std::size_t i = place_of(one.tenant);
    while (places_[i].chance > 0) i = (i + 1) & (places_.size() - 1);
    places_[i] = one;
  }
}

std::vector<Excess> ClassExcess::list() const {
  std::vector<Excess> all;
  for (const Excess& place : places_) {
    if (place.chance > 0) all.push_back(place);
  }
  std::sort(all.begin(), all.end(), [](const Excess& a, const Excess& b) {
    return a.chance != b.chance ? a.chance > b.chance : a.tenant < b.tenant;
  });
  return all;
}

}  // namespace spillway::overload
