// How much of what the rules allow is refused, by class. Part of the admission plan.
#pragma once

#include <array>
#include <cstdint>

#include "base/ids.hpp"
#include "config/config.hpp"

namespace spillway::overload {

struct ShedLevels {
  ShedLevels() { share.fill(1); }

  friend bool operator==(const ShedLevels&, const ShedLevels&) = default;

  // For lack of room (ShedScope): the classes that are refused at all, as bits, and the share of
  // them that may not wait while a higher class does, [0, 1].
  std::uint32_t in_scope = ~std::uint32_t{0};
  std::array<float, kMaxClasses> cut{};
  // Budgets of rules are in force: of those with a rate; one of 0 lets nothing through in any state
  // but NORMAL.
  bool budgets = true;
  // For bad health (ShareRegulator): the share that is refused at most, [0, 1].
  std::array<float, kMaxClasses> share{};

  bool includes(ClassId id) const { return (in_scope >> index(id) & 1) != 0; }
  bool enforces(const config::Budget& budget) const { return budgets || budget.rate == 0; }
  double cut_of(ClassId id) const { return double(cut[index(id)]); }
  double share_of(ClassId id) const { return double(share[index(id)]); }
};

}  // namespace spillway::overload
