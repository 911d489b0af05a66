// The tenants of each class whose demand exceeds their fair share, with the probability of refusing
// one of their requests: computed by the tick (tenant_share.hpp), looked up for every request.
// Immutable; a look-up is one multiplication and usually one probe.
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
  double chance = 0;  // of refusing one of its requests, (0, 1]
};

class ClassExcess {
 public:
  ClassExcess() = default;
  // `rule_scale`: see rule_scale(). No tenant twice.
  ClassExcess(std::span<const Excess> tenants, double rule_scale);

  bool empty() const { return slots_.empty(); }
  // All of them, by descending chance: for the admin pages.
  std::vector<Excess> list() const;
  // Zero for a tenant that is not above its share.
  double chance(TenantId tenant) const {
    if (slots_.empty()) return 0;
    std::size_t i = slot_of(tenant);
    while (slots_[i].chance > 0 && slots_[i].tenant != tenant) i = (i + 1) & (slots_.size() - 1);
    return slots_[i].chance;
  }
  // Factor for a denying rule's probability, [0, 1]: refusing the tenants above their share already
  // covers part of the rule's refusals. Zero: all of them.
  double rule_scale() const { return rule_scale_; }

 private:
  std::size_t slot_of(TenantId tenant) const {
    return (static_cast<std::uint64_t>(tenant) * 0x9e3779b97f4a7c15u) >> shift_;
  }

  std::vector<Excess> slots_;  // open addressing, a power of two, at most a quarter full
  int shift_ = 63;
  double rule_scale_ = 1;
};

class TenantExcess {
 public:
  explicit TenantExcess(std::vector<ClassExcess> classes) : classes_(std::move(classes)) {}

  const ClassExcess& of(ClassId traffic_class) const { return classes_[index(traffic_class)]; }

 private:
  std::vector<ClassExcess> classes_;
};

}  // namespace spillway::overload
