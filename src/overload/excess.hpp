// The tenants of each class that ask for more than their fair share, and by how much: what the
// tick worked out (tenant_share.hpp) and every request looks up. Immutable, small, one
// multiplication and usually one probe per look-up.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"

namespace spillway::overload {

struct Excess {
  TenantId tenant{};
  double chance = 0;  // that one of its requests is above its share, (0, 1]
};

class ClassExcess {
 public:
  ClassExcess() = default;
  // `relief`: see relief(). Tenants differ from one another.
  ClassExcess(std::span<const Excess> tenants, double relief);

  bool empty() const { return places_.empty(); }
  // For who wants to see them all: the largest chance first.
  std::vector<Excess> list() const;
  // Zero for a tenant that is not above its share.
  double chance(TenantId tenant) const {
    if (places_.empty()) return 0;
    std::size_t i = place_of(tenant);
    while (places_[i].chance > 0 && places_[i].tenant != tenant) i = (i + 1) & (places_.size() - 1);
    return places_[i].chance;
  }
  // What of a denying rule's probability is left to the others, [0, 1]: zero when the tenants
  // above their share already make up for all that the rule is to refuse.
  double relief() const { return relief_; }

 private:
  std::size_t place_of(TenantId tenant) const {
    return (static_cast<std::uint64_t>(tenant) * 0x9e3779b97f4a7c15u) >> shift_;
  }

  std::vector<Excess> places_;  // open addressing, a power of two, at most a quarter full
  int shift_ = 63;
  double relief_ = 1;
};

class TenantExcess {
 public:
  explicit TenantExcess(std::vector<ClassExcess> classes) : classes_(std::move(classes)) {}

  const ClassExcess& of(ClassId traffic_class) const { return classes_[index(traffic_class)]; }

 private:
  std::vector<ClassExcess> classes_;
};

}  // namespace spillway::overload
