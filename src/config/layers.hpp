// How the rules that the file states one over another come together.
#pragma once

#include <vector>

#include "base/ids.hpp"
#include "config/config.hpp"

namespace spillway::config {

// Each field that `changes` names takes the place of the rule's.
void apply(const RuleOverride& changes, Rule& rule);

// The class's rule in each state in which a route's own rules count: OVERLOADED and CRITICAL as the
// stages make them, or the one overloaded state there is.
std::vector<Rule> overloaded_rules(const Overload& overload, ClassId traffic_class);

}  // namespace spillway::config
