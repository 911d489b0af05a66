// The admission plan of one upstream: its state and reason, the effective rule of every route and
// class, and the tenants above their fair share.
//
// Immutable; published by the control tick, read by workers. Cheap to make: all plans of a state
// share their rules.
#pragma once

#include <memory>
#include <utility>

#include "base/ids.hpp"
#include "base/reason.hpp"
#include "config/config.hpp"
#include "overload/admission/cause.hpp"
#include "overload/admission/excess.hpp"
#include "overload/admission/queue_order.hpp"
#include "overload/admission/rules.hpp"
#include "overload/admission/shed_levels.hpp"
#include "overload/signals/state.hpp"

namespace spillway::overload {

class AdmissionPlan {
 public:
  AdmissionPlan(State state, Cause cause, std::shared_ptr<const RuleTable> rules,
                std::shared_ptr<const TenantExcess> tenants = nullptr,
                const ShedLevels& levels = {}, bool is_quiet = false,
                QueueOrder order = QueueOrder::oldest_first)
      : state_(state),
        is_quiet_(is_quiet),
        order_(order),
        cause_(cause),
        levels_(levels),
        rules_(std::move(rules)),
        tenants_(std::move(tenants)) {}

  State state() const { return state_; }
  Cause cause() const { return cause_; }
  Reason reason() const { return cause_.reason; }  // none while normal
  // NORMAL at low load: latencies are the usual ones.
  bool is_quiet() const { return is_quiet_; }
  // The order in which the waiters of each class start.
  QueueOrder order() const { return order_; }

  // Defined in every state: refusals that do not depend on the state use the rule's retry_after
  // too.
  const EffectiveRule& effective(RouteId route, ClassId traffic_class) const {
    return rules_->at(route, traffic_class);
  }
  const config::Rule& rule(RouteId route, ClassId traffic_class) const {
    return effective(route, traffic_class).rule;
  }

  // The rule by which a cached or fallback response takes the place of a refusal, in any state;
  // null: the request is refused.
  const config::Rule* degrading(RouteId route, ClassId traffic_class) const {
    return rules_->degrading(route, traffic_class);
  }

  // The rule of routes that override nothing.
  const EffectiveRule& class_rule(ClassId traffic_class) const {
    return rules_->class_rule(traffic_class);
  }

  // The share of the permitted refusals that is in force.
  const ShedLevels& levels() const { return levels_; }

  // Tenants above their fair share; null when there are none.
  const TenantExcess* tenants() const { return tenants_.get(); }

 private:
  State state_;
  bool is_quiet_;
  QueueOrder order_;
  Cause cause_;
  ShedLevels levels_;
  std::shared_ptr<const RuleTable> rules_;
  std::shared_ptr<const TenantExcess> tenants_;
};

// A plan with rule tables of its own; a controller shares its tables between plans.
AdmissionPlan build_plan(const config::Config& config, const config::Upstream& upstream,
                         State state, Cause cause);

}  // namespace spillway::overload
