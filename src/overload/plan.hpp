// What the shedder does with each route, class and tenant of one upstream for now.
//
// Published by the control tick, read by workers: immutable. Cheap to make: its rules are shared
// by all plans of a state.
#pragma once

#include <memory>
#include <utility>

#include "base/ids.hpp"
#include "base/reason.hpp"
#include "config/config.hpp"
#include "overload/excess.hpp"
#include "overload/rules.hpp"
#include "overload/state.hpp"

namespace spillway::overload {

class AdmissionPlan {
 public:
  AdmissionPlan(State state, Reason reason, std::shared_ptr<const RuleTable> rules,
                std::shared_ptr<const TenantExcess> tenants = nullptr)
      : state_(state), reason_(reason), rules_(std::move(rules)), tenants_(std::move(tenants)) {}

  State state() const { return state_; }
  Reason reason() const { return reason_; }  // none while normal

  // Known in every state: a rule's retry_after also goes with refusals that do not depend on the
  // state.
  const EffectiveRule& effective(RouteId route, ClassId traffic_class) const {
    return rules_->at(route, traffic_class);
  }
  const config::Rule& rule(RouteId route, ClassId traffic_class) const {
    return effective(route, traffic_class).rule;
  }

  // Of routes that override nothing.
  const EffectiveRule& class_rule(ClassId traffic_class) const {
    return rules_->class_rule(traffic_class);
  }

  // Who is above its fair share; null when nobody is.
  const TenantExcess* tenants() const { return tenants_.get(); }

 private:
  State state_;
  Reason reason_;
  std::shared_ptr<const RuleTable> rules_;
  std::shared_ptr<const TenantExcess> tenants_;
};

// A plan on its own, rules and all; a controller makes them from its shared tables.
AdmissionPlan build_plan(const config::Config& config, const config::Upstream& upstream,
                         State state, Reason reason);

}  // namespace spillway::overload
