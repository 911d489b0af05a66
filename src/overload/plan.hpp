// What the shedder does with each route and class of one upstream in its present state.
//
// Rebuilt by the control tick when state or reason change, read by workers: immutable.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.hpp"
#include "base/reason.hpp"
#include "config/config.hpp"
#include "overload/state.hpp"

namespace spillway::overload {

class AdmissionPlan {
 public:
  State state() const { return state_; }
  Reason reason() const { return reason_; }  // none while normal

  // The class's rule, overridden field by field by the route's. Known in every state: its
  // retry_after also goes with refusals that do not depend on the state. Ids out of range are
  // a programming error.
  const config::Rule& rule(RouteId route, ClassId traffic_class) const {
    return rows_[row_of_route_[index(route)] + index(traffic_class)];
  }

 private:
  friend AdmissionPlan build_plan(const config::Config&, const config::Upstream&, State, Reason);

  State state_ = State::normal;
  Reason reason_ = Reason::none;
  std::vector<std::uint32_t> row_of_route_;  // where its row of class rules begins
  std::vector<config::Rule> rows_;           // the first row is that of routes without overrides
};

AdmissionPlan build_plan(const config::Config& config, const config::Upstream& upstream,
                         State state, Reason reason);

}  // namespace spillway::overload
