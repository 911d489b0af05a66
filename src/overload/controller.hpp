// The control loop of one upstream. Each tick turns the workers' counters into signals, the signals
// into a state, and the state and the tenants' demand into an admission plan. Driven by the proxy's
// control thread and by the simulator.
#pragma once

#include <memory>
#include <optional>

#include "base/reason.hpp"
#include "base/state.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/limit_regulator.hpp"
#include "overload/plan.hpp"
#include "overload/rules.hpp"
#include "overload/signals.hpp"
#include "overload/state.hpp"
#include "overload/tenant_share.hpp"

namespace spillway::overload {

struct Tick {
  std::optional<Transition> transition;
  std::shared_ptr<const AdmissionPlan> plan;  // to publish; null: unchanged
  std::uint32_t limit = 0;                    // of requests at once, from now on
  bool found_futile = false;                  // SHEDDING_DOES_NOT_HELP begins now
};

class Controller {
 public:
  Controller(const config::Config& config, const config::Upstream& upstream);

  // Inherits the state of the same upstream's controller in the former configuration; the rules are
  // the new ones. To be called before the first tick.
  void continue_from(const Controller& former, TimePoint now);

  // Every upstream.overload.tick. `now` never goes back.
  Tick tick(const TickInput& input, TimePoint now);

  const OverloadSignals& signals() const { return signals_; }  // of the last tick
  State state() const { return machine_.state(); }
  Reason reason() const;
  // See LimitRegulator.
  std::uint32_t limit() const { return regulator_.limit(); }
  std::optional<TimePoint> since() const { return machine_.since(); }  // see StateMachine
  // In force: never null, State::normal before the first tick.
  const std::shared_ptr<const AdmissionPlan>& plan() const { return plan_; }

 private:
  Cause cause() const;

  bool fairness_;
  SignalWindow window_;
  StateMachine machine_;
  LimitRegulator regulator_;
  RuleTables rules_;
  TenantShare share_;
  OverloadSignals signals_;
  std::shared_ptr<const AdmissionPlan> plan_;
};

}  // namespace spillway::overload
