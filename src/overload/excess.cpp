#include "overload/excess.hpp"

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

}  // namespace spillway::overload
