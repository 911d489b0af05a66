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
#include "overload/admission/plan.hpp"
#include "overload/admission/queue_order.hpp"
#include "overload/admission/rules.hpp"
#include "overload/control/budget_hold.hpp"
#include "overload/control/limit_at_max.hpp"
#include "overload/control/limit_regulator.hpp"
#include "overload/control/server_weights.hpp"
#include "overload/control/share_regulator.hpp"
#include "overload/control/shed_scope.hpp"
#include "overload/control/source_alarm.hpp"
#include "overload/control/tenant_share.hpp"
#include "overload/control/unmet_latency.hpp"
#include "overload/limit/concurrency_limit.hpp"
#include "overload/limit/limit_sampler.hpp"
#include "overload/signals/signals.hpp"
#include "overload/signals/state.hpp"

namespace spillway::overload {

struct Tick {
  std::optional<Transition> transition;
  std::shared_ptr<const AdmissionPlan> plan;  // to be published to the workers; null: unchanged
  std::uint32_t limit = 0;                    // see Controller::limit()
  bool found_futile = false;                  // SHEDDING_DOES_NOT_HELP begins now
  bool source_began = false;  // errors of one source alone exceed the threshold (left_out)
  bool source_ended = false;
  LimitAtMax::Change at_max = LimitAtMax::Change::none;  // the found limit and its upper bound
};

class Controller {
 public:
  Controller(const config::Config& config, const config::Upstream& upstream);

  // Takes state, limit and the knowledge of low load from the same upstream's controller in the
  // former configuration; rules and bounds are the new ones. To be called before the first tick.
  void continue_from(const Controller& former, TimePoint now);

  // Call every upstream.overload.tick. `now` never goes back.
  Tick tick(const TickInput& input, TimePoint now);

  const OverloadSignals& signals() const { return signals_; }  // of the last tick
  State state() const { return machine_.state(); }
  Reason reason() const;
  // Requests that may run at once while all servers are in rotation: with `"concurrency": "auto"`
  // the limit found, else `concurrency` or, to lower the tail latency, fewer (LimitRegulator).
  std::uint32_t limit() const { return found_ ? found_->limit() : regulator_.limit(); }
  // The found limit is at its upper bound while more is offered.
  bool is_limit_at_max() const { return found_ && at_max_.is_on(); }
  // How that limit is divided among several servers; empty: equally.
  std::span<const double> server_weights() const {
    return weights_ ? weights_->weights() : std::span<const double>();
  }
  std::optional<TimePoint> since() const { return machine_.since(); }  // see StateMachine
  // The plan in force: never null, State::normal before the first tick.
  const std::shared_ptr<const AdmissionPlan>& plan() const { return plans_.here; }
  // The plan of this worker: without refusals for lag if only the loops of other workers lag.
  const std::shared_ptr<const AdmissionPlan>& plan_of(std::size_t worker) const {
    return shares_.refuses_on(worker) ? plans_.here : plans_.elsewhere;
  }

 private:
  struct Plans {
    std::shared_ptr<const AdmissionPlan> here;
    std::shared_ptr<const AdmissionPlan> elsewhere;  // on workers that do not lag
  };

  Cause cause() const;
  double timeouts() const;
  bool are_late() const;
  bool is_holding(TimePoint now) const;
  bool is_latency_futile() const { return regulator_.is_futile() || unmet_.is_on(); }
  bool is_futile() const { return is_latency_futile() || shares_.is_futile(); }
  ShedLevels levels() const;
  ShedLevels levels_elsewhere() const;
  void follow_rotation(const InRotation& rotation, TimePoint now);
  void make_plans(std::shared_ptr<const TenantExcess> tenants, bool is_quiet, QueueOrder order);
  void move_limit(const TickInput& input, const std::optional<LimitSample>& sample, TimePoint now);

  bool fairness_;
  SignalWindow window_;
  StateMachine machine_;
  LimitRegulator regulator_;
  std::unique_ptr<ConcurrencyLimit> found_;  // with `"concurrency": "auto"`
  UnmetLatency unmet_;                       // likewise
  LimitAtMax at_max_;                        // likewise
  std::optional<ServerWeights> weights_;     // likewise, of several servers
  LimitSampler sampler_;
  std::size_t servers_in_ = 0;  // in rotation; 0: not known yet
  bool moves_;                  // the limit; not in shadow mode, where it has no effect
  BudgetHold budgets_;
  QueueOrderChoice order_;
  ShedScope scope_;
  ShareRegulator shares_;
  RuleTables rules_;
  TenantShare share_;
  SourceAlarm source_;
  OverloadSignals signals_;
  Plans plans_;
};

}  // namespace spillway::overload
