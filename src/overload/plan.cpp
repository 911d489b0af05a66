#include "overload/plan.hpp"

namespace spillway::overload {
namespace {

void apply(const config::RuleOverride& changes, config::Rule& rule) {
  if (changes.strategy) rule.strategy = *changes.strategy;
  if (changes.probability) rule.probability = *changes.probability;
  if (changes.retry_after) rule.retry_after = *changes.retry_after;
}

}  // namespace

AdmissionPlan build_plan(const config::Config& config, const config::Upstream& upstream,
                         State state, Reason reason) {
  AdmissionPlan plan;
  plan.state_ = state;
  plan.reason_ = reason;

  std::vector<config::Rule> class_rules = upstream.overload.rules;
  class_rules.resize(config.classes.size());
  plan.rows_ = class_rules;

  plan.row_of_route_.reserve(config.routes.size());
  for (const config::Route& route : config.routes) {
    if (route.rules.empty()) {
      plan.row_of_route_.push_back(0);
      continue;
    }
    const std::size_t row = plan.rows_.size();
    plan.row_of_route_.push_back(static_cast<std::uint32_t>(row));
    plan.rows_.insert(plan.rows_.end(), class_rules.begin(), class_rules.end());
    for (const config::RuleOverride& changes : route.rules)
      apply(changes, plan.rows_[row + index(changes.traffic_class)]);
  }
  return plan;
}

}  // namespace spillway::overload
