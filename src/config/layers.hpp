// Combines rules that override one another.
#pragma once

#include <vector>

#include "base/ids.hpp"
#include "config/config.hpp"

namespace spillway::config {

// The fields set in `changes` replace those of `rule`.
void apply(const RuleOverride& changes, Rule& rule);

// The class's rule in each state in which route rules apply: in the stages OVERLOADED and CRITICAL,
// or in the only overloaded state.
std::vector<Rule> overloaded_rules(const Overload& overload, ClassId traffic_class);

}  // namespace spillway::config
