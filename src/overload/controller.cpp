#include "overload/controller.hpp"

#include <utility>

namespace spillway::overload {

Controller::Controller(const config::Config& config, const config::Upstream& upstream)
    : fairness_(config.tenants.fairness),
      window_(upstream.overload),
      machine_(upstream.overload),
      rules_(config, upstream),
      share_(config),
      plan_(std::make_shared<const AdmissionPlan>(State::normal, Reason::none,
                                                  rules_.of(State::normal))) {}

void Controller::continue_from(const Controller& former, TimePoint now) {
  machine_.continue_from(former.machine_, now);
  plan_ = std::make_shared<const AdmissionPlan>(state(), reason(), rules_.of(state()));
}

Tick Controller::tick(const TickInput& input, TimePoint now) {
  signals_ = window_.tick(input, now);
  Tick result;
  result.transition = machine_.step(signals_, now);

  const auto& rules = rules_.of(state());
  share_.note_queues(input.queued, now);
  std::shared_ptr<const TenantExcess> tenants;
  if (fairness_ && state() != State::normal)
    tenants = share_.judge(input.tenants, *rules, reason());
  const bool is_as_before = state() == plan_->state() && reason() == plan_->reason() &&
                            tenants == nullptr && plan_->tenants() == nullptr;
  if (is_as_before) return result;
  plan_ = std::make_shared<const AdmissionPlan>(state(), reason(), rules, std::move(tenants));
  result.plan = plan_;
  return result;
}

}  // namespace spillway::overload
