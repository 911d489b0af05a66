#include "overload/admission/plan.hpp"

namespace spillway::overload {

AdmissionPlan build_plan(const config::Config& config, const config::Upstream& upstream,
                         State state, Cause cause) {
  return {state, cause, RuleTables(config, upstream).of(state)};
}

}  // namespace spillway::overload
