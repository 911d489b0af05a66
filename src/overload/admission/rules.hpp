// The effective rule of every route and class in each state of one upstream.
//
// Made once from the configuration and shared by all plans, so that a new plan has no cost per
// route.
//
//   NORMAL      overload.rules with the routes' overrides; they refuse nothing. Their retry_after
//               applies to refusals by the gate, and degrading() in place of these.
//   ELEVATED    a warning: overload.rules with the strategy `allow` and without budgets, changed by
//               the stage's own rules only. Routes' overrides, written for overload, do not apply.
//   OVERLOADED  overload.rules, the stage's rules over them, the routes' overrides over both.
//   CRITICAL    the same, the stage's rules laid over those of OVERLOADED.
//
// Each layer changes the fields that it names and leaves the others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/ids.hpp"
#include "base/state.hpp"
#include "config/config.hpp"

namespace spillway::overload {

struct alignas(64) EffectiveRule {  // one cache line for one request
  config::Rule rule;
  std::uint32_t bucket = 0;  // of its budget, in Budgets
};

// The rules of one state. Ids out of range are a programming error.
class RuleTable {
 public:
  const EffectiveRule& at(RouteId route, ClassId traffic_class) const {
    return rows_[row_of_route_[index(route)] + index(traffic_class)];
  }
  // The rule that turns a refusal into a degraded response; null: none does. Below OVERLOADED the
  // rules of the states up to OVERLOADED count too: they were written for refusals for lack of
  // room, even if the state does not show the shortage yet.
  const config::Rule* degrading(RouteId route, ClassId traffic_class) const {
    for (const RuleTable* table = this; table != nullptr; table = table->above_.get()) {
      const config::Rule& rule = table->at(route, traffic_class).rule;
      if (rule.strategy == config::Strategy::degrade) return &rule;
    }
    return nullptr;
  }
  // Whether every route's rule for this class denies or drops.
  bool all_refuse(ClassId traffic_class) const;
  // The rule of a class without any route's overrides.
  const EffectiveRule& class_rule(ClassId traffic_class) const {
    return rows_[index(traffic_class)];
  }

 private:
  friend class RuleTables;

  std::vector<std::uint32_t> row_of_route_;     // where the class rules of a route begin
  std::uint32_t refusing_ = ~std::uint32_t{0};  // bit by class: see all_refuse
  std::vector<EffectiveRule> rows_;             // the first row is for routes without overrides
  std::shared_ptr<const RuleTable> above_;      // of the next state up to OVERLOADED, or null
};

class RuleTables {
 public:
  RuleTables(const config::Config& config, const config::Upstream& upstream);

  const std::shared_ptr<const RuleTable>& of(State state) const { return tables_[index(state)]; }

 private:
  std::array<std::shared_ptr<const RuleTable>, kStateCount> tables_;
};

// The number of token buckets that the rules of an upstream use: one per class, shared by the
// routes, and one for each route's rule with a budget of its own.
std::size_t count_buckets(const config::Config& config, const config::Upstream& upstream);

}  // namespace spillway::overload
