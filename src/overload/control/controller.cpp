#include "overload/control/controller.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "overload/limit/make_limit.hpp"

namespace spillway::overload {
namespace {

// Reserved slots stay reserved under any limit, and at least one more is left to the other classes.
std::uint32_t least_limit(const config::Config& config) {
  std::uint32_t reserved = 0;
  for (const config::TrafficClass& each : config.classes) reserved += each.reserved;
  return reserved + 1;
}

}  // namespace

Controller::Controller(const config::Config& config, const config::Upstream& upstream)
    : fairness_(config.tenants.fairness),
      window_(upstream.overload),
      machine_(upstream.overload),
      regulator_(upstream.overload, upstream.dispatch.concurrency, least_limit(config),
                 upstream.response_timeout),
      unmet_(upstream.overload),
      at_max_(upstream.dispatch.concurrency),
      moves_(upstream.overload.mode == config::Mode::enforce),
      budgets_(upstream.overload),
      order_(upstream.dispatch, config.classes.size()),
      scope_(config, upstream),
      shares_(upstream.overload, config.classes.size()),
      rules_(config, upstream),
      share_(config),
      source_(upstream.overload) {
  plans_.here = plans_.elsewhere =
      std::make_shared<const AdmissionPlan>(State::normal, Reason::none, rules_.of(State::normal));
  if (const auto& search = upstream.dispatch.concurrency.search) {
    found_ = make_limit(*search, least_limit(config), upstream.overload.mode);
    const bool has_turns = search->law == config::LimitLaw::paired_dither;
    if (has_turns && moves_ && upstream.servers.size() > 1) weights_.emplace(upstream.servers);
  }
}

void Controller::continue_from(const Controller& former, TimePoint now) {
  machine_.continue_from(former.machine_, now);
  regulator_.continue_from(former.regulator_);
  window_.continue_from(former.window_);
  // Also from a fixed number: the limit that was in force is better than a first guess.
  if (found_ && former.found_)
    found_->continue_from(*former.found_);
  else if (found_)
    found_->restart(former.limit());
  if (found_) at_max_.continue_from(former.at_max_);
  order_.continue_from(former.order_);
  scope_.continue_from(former.scope_);
  shares_.continue_from(former.shares_);
  if (found_ && former.found_) unmet_.continue_from(former.unmet_);
  if (weights_ && former.weights_) weights_->continue_from(*former.weights_);
  source_.continue_from(former.source_);
  budgets_.continue_from(former.budgets_);
  make_plans(nullptr, false, order_.step(std::nullopt, state(), now));
}

Reason Controller::reason() const {
  switch (const Reason reason = machine_.reason()) {
    case Reason::tail_latency: return is_latency_futile() ? Reason::shedding_does_not_help : reason;
    case Reason::event_loop_lag:
    case Reason::error_burst: {
      const bool is_in_vain = are_late() ? regulator_.is_futile() : shares_.is_futile();
      return is_in_vain ? Reason::shedding_does_not_help : reason;
    }
    default: return reason;
  }
}

// With regulation, tail latency lowers the limit, and requests that no longer fit are refused for
// lack of room.
Cause Controller::cause() const {
  const Reason reason = machine_.reason();
  const bool by_limit = reason == Reason::tail_latency && regulator_.regulates();
  const bool is_lowered = regulator_.is_holding() && !shares_.is_holding();
  const bool by_timeouts = reason == Reason::error_burst && (are_late() || is_lowered);
  return {this->reason(), by_limit || by_timeouts || is_capacity(reason)};
}

// The share of errors that a lower limit is meant to prevent.
double Controller::timeouts() const {
  if (found_ || !regulator_.prevents_timeouts()) return 0;
  return signals_.timeout_rate.value_or(0);
}

// Whether most errors are timeouts of that kind.
bool Controller::are_late() const { return timeouts() > signals_.error_rate.value_or(0) / 2; }

ShedLevels Controller::levels() const {
  if (state() == State::normal) return {};
  ShedLevels levels = scope_.levels();
  // Tail latency means that the upstream can do less than its slots allow; poor health, that its
  // capacity is unknown.
  if (!is_capacity(machine_.reason())) levels.budgets = true;
  for (std::size_t i = 0; i < kMaxClasses; ++i) levels.share[i] = float(shares_.share(i));
  return levels;
}

// On workers that do not lag: only refusals for the upstream's own sake.
ShedLevels Controller::levels_elsewhere() const {
  ShedLevels levels = this->levels();
  if (machine_.reason() != Reason::event_loop_lag) return levels;
  levels.budgets = scope_.levels().budgets;
  levels.share.fill(0);
  return levels;
}

void Controller::make_plans(std::shared_ptr<const TenantExcess> tenants, bool is_quiet,
                            QueueOrder order) {
  const auto& rules = rules_.of(state());
  plans_.here = std::make_shared<const AdmissionPlan>(state(), cause(), rules, std::move(tenants),
                                                      levels(), is_quiet, order);
  const ShedLevels elsewhere = levels_elsewhere();
  plans_.elsewhere = elsewhere == plans_.here->levels()
                         ? plans_.here
                         : std::make_shared<const AdmissionPlan>(state(), cause(), rules, nullptr,
                                                                 elsewhere, is_quiet, order);
}

// Whether the upstream's signals are low because requests are held back.
bool Controller::is_holding(TimePoint now) const {
  if (regulator_.is_holding() || shares_.keeps_state(now) || budgets_.is_holding()) return true;
  return cause().work_conserving && scope_.holds();
}

// The limit is for all servers; servers out of rotation take their shares of it with them.
void Controller::follow_rotation(const InRotation& rotation, TimePoint now) {
  const std::size_t before = std::exchange(servers_in_, rotation.in);
  if (before != 0 && before != rotation.in)
    regulator_.on_rotation(double(rotation.in) / double(before), now);
}

void Controller::move_limit(const TickInput& input, const std::optional<LimitSample>& sample,
                            TimePoint now) {
  if (!found_) {
    regulator_.step(signals_, std::accumulate(input.queued.begin(), input.queued.end(), 0u), now);
    return;
  }
  if (moves_ && regulator_.regulates()) unmet_.step(signals_, now);
  if (sample && weights_) weights_->step(*sample, found_->limit(), input.servers, now);
  if (sample && !sample->is_held_up && !sample->is_unsettled) {
    found_->step(*sample, now);
  }
}

Tick Controller::tick(const TickInput& input, TimePoint now) {
  TickInput limited = input;
  limited.concurrency = std::min(input.concurrency, double(limit()));
  limited.is_normal = state() == State::normal;
  signals_ = window_.tick(limited, now);
  Tick result;
  const SourceAlarm::Change source = source_.step(signals_);
  result.source_began = source == SourceAlarm::Change::began;
  result.source_ended = source == SourceAlarm::Change::ended;
  signals_.errors_of_one_source = source_.is_on();
  const bool was_futile = is_futile();
  follow_rotation(input.rotation, now);
  const std::optional<LimitSample> sample = sampler_.take(limited, signals_, now);
  if (found_ && sample) result.at_max = at_max_.step(found_->limit(), *sample);
  move_limit(input, sample, now);
  result.limit = limit();
  scope_.step(signals_.offered_load,
              {.started = input.started,
               .predicted_wait = input.predicted_wait,
               .is_normal = state() == State::normal,
               .budget_refused = input.has_refused,
               .limit = limit()},
              now);
  OverloadSignals others = signals_;
  if (others.error_rate) *others.error_rate -= timeouts();
  const bool others_lag = shares_.watch_workers(input.event_loop_lags, now);
  shares_.step(others, machine_.reason(), now);
  result.found_futile = !was_futile && is_futile();
  budgets_.step(signals_, {input.has_refused, state(), machine_.reason()}, now);
  result.transition = machine_.step(signals_, is_holding(now), now);

  // In shadow mode nothing is known about clients that would have waited.
  const QueueOrder order =
      order_.step(sample && moves_ ? sample->answered : std::nullopt, state(), now);
  const auto& rules = rules_.of(state());
  share_.note_queues(input.queued, now);
  std::shared_ptr<const TenantExcess> tenants;
  if (fairness_ && state() != State::normal) tenants = share_.judge(input.tenants, *rules, cause());
  const bool is_quiet = state() == State::normal && signals_.is_low_load();
  const bool is_as_before = state() == plans_.here->state() &&
                            is_quiet == plans_.here->is_quiet() && order == plans_.here->order() &&
                            cause() == plans_.here->cause() && levels() == plans_.here->levels() &&
                            levels_elsewhere() == plans_.elsewhere->levels() &&
                            tenants == nullptr && plans_.here->tenants() == nullptr;
  if (is_as_before && (!others_lag || plans_.elsewhere == plans_.here)) return result;
  make_plans(std::move(tenants), is_quiet, order);
  result.plan = plans_.here;
  return result;
}

}  // namespace spillway::overload
