#include "config/layers.hpp"

namespace spillway::config {

void apply(const RuleOverride& changes, Rule& rule) {
  if (changes.strategy) rule.strategy = *changes.strategy;
  if (changes.probability) rule.probability = *changes.probability;
  if (changes.retry_after) rule.retry_after = *changes.retry_after;
  if (changes.mode) rule.mode = *changes.mode;
  if (changes.miss) rule.miss = changes.miss;
  if (changes.annotate) rule.annotate = changes.annotate;
  if (changes.budget) rule.budget = changes.budget;
}

std::vector<Rule> overloaded_rules(const Overload& overload, ClassId traffic_class) {
  Rule rule = overload.rules[index(traffic_class)];
  std::vector<Rule> out;
  for (const Stage& stage : overload.stages) {
    if (stage.name == State::elevated) continue;
    for (const RuleOverride& changes : stage.rules)
      if (changes.traffic_class == traffic_class) apply(changes, rule);
    out.push_back(rule);
  }
  if (out.empty()) out.push_back(rule);
  return out;
}

}  // namespace spillway::config
