// How much of the refusals that rules permit is in force, by class. Part of the admission plan.
#pragma once

#include <array>
#include <cstdint>

#include "base/ids.hpp"
#include "config/config.hpp"

namespace spillway::overload {

struct ShedLevels {
  ShedLevels() { share.fill(1); }

  friend bool operator==(const ShedLevels&, const ShedLevels&) = default;

  // For lack of room (ShedScope): the classes that are refused, as bits, and the share of each that
  // may not wait while a higher class does, [0, 1].
  std::uint32_t in_scope = ~std::uint32_t{0};
  std::array<float, kMaxClasses> cut{};
  // Whether budgets of rules with a rate are in force; one with rate 0 lets nothing through in any
  // state but NORMAL.
  bool budgets = true;
  // For poor health (ShareRegulator): the largest share that is refused, [0, 1].
  std::array<float, kMaxClasses> share{};

  bool includes(ClassId id) const { return (in_scope >> index(id) & 1) != 0; }
  bool enforces(const config::Budget& budget) const { return budgets || budget.rate == 0; }
  double cut_of(ClassId id) const { return double(cut[index(id)]); }
  double share_of(ClassId id) const { return double(share[index(id)]); }
};

}  // namespace spillway::overload
