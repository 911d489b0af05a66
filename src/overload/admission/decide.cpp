#include "overload/admission/decide.hpp"

#include <algorithm>
#include <array>

namespace spillway::overload {
namespace {

using Kind = Verdict::Kind;
using config::Strategy;

bool refuses(const config::Rule& rule) {
  return rule.strategy == Strategy::deny || rule.strategy == Strategy::drop;
}

// Whether misses (no degraded response) are refused as far as the upstream's condition requires.
// cache_only is stricter: it never asks the upstream.
bool refuses_misses(const config::Rule& rule) {
  return rule.strategy == Strategy::degrade && rule.mode == config::DegradeMode::stale_ok &&
         miss_of(rule) == config::Miss::deny;
}

// `how`: deny, or drop (without a response).
Verdict refuse(Cause cause, Strategy how, Milliseconds retry_after) {
  const bool silently = how == Strategy::drop;
  Verdict verdict;
  verdict.refuse_silently = silently;
  verdict.reason = cause.reason;
  verdict.retry_after = retry_after;
  verdict.kind = cause.work_conserving ? Kind::allow_if_short_wait
                 : silently            ? Kind::drop
                                       : Kind::deny;
  return verdict;
}

Verdict degrade(const config::Rule& rule, Cause cause) {
  Verdict verdict;
  verdict.kind = Kind::degrade;
  verdict.mode = rule.mode;
  verdict.miss = miss_of(rule);
  verdict.annotate = rule.annotate;
  verdict.reason = cause.reason;
  verdict.work_conserving = cause.work_conserving;
  verdict.retry_after = rule.retry_after;
  return verdict;
}

Verdict apply(const config::Rule& rule, Cause cause, double probability, double draw) {
  if (rule.strategy == Strategy::degrade) return degrade(rule, cause);
  Verdict verdict;
  if (!refuses(rule)) return verdict;
  if (draw < probability) verdict = refuse(cause, rule.strategy, rule.retry_after);
  verdict.probability = probability;
  verdict.draw = draw;
  return verdict;
}

// For a work-conserving cause tenants above their share are refused first whatever the rule: that
// only changes the order of waiting. In ELEVATED a request is refused only if its rule refuses.
// For any other cause requests are refused although slots are free, so that needs a rule that
// refuses.
bool shares_count(const config::Rule& rule, State state, Cause cause) {
  if (refuses(rule)) return true;
  return cause.work_conserving && state != State::elevated;
}

Verdict over_share(const config::Rule& rule, Cause cause, double chance, double draw) {
  Verdict verdict = refuse(Reason::tenant_share, Strategy::deny, rule.retry_after);
  if (cause.work_conserving) {
    verdict.kind = Kind::allow_if_short_wait;
    verdict.only_if_free = true;
  }
  verdict.probability = chance;
  verdict.draw = draw;
  return verdict;
}

// A rate limit holds whether the upstream is overloaded or not.
Verdict over_rate(Milliseconds retry_after, Random& random) {
  return refuse(Reason::budget_exceeded, Strategy::deny, spread_retry_after(retry_after, random));
}

// Whether the request may go upstream, so that it needs a token.
bool may_try(const Verdict& verdict) {
  switch (verdict.kind) {
    case Kind::allow:
    case Kind::allow_if_short_wait: return true;
    // Without a fallback skip_downstream asks for a cheaper response, whatever its `miss`.
    case Kind::degrade:
      return verdict.mode == config::DegradeMode::skip_downstream ||
             on_miss(verdict).kind != Kind::deny;
    case Kind::deny:
    case Kind::drop: break;
  }
  return false;
}

}  // namespace

Verdict judge(const config::Rule& rule, State state, Cause cause, double draw) {
  if (state == State::normal) return {};
  return apply(rule, cause, rule.probability, draw);
}

Verdict decide(const AdmissionPlan& plan, Budgets& budgets, const AdmissionRequest& request,
               TimePoint now, Random& random) {
  if (request.budget != nullptr && !request.budget->try_take(now)) [[unlikely]]
    return over_rate(request.budget->time_per_request(), random);
  if (plan.state() == State::normal) return {};
  const EffectiveRule& effective = plan.effective(request.route, request.traffic_class);
  const config::Rule& rule = effective.rule;
  const Cause cause = plan.cause();

  const ShedLevels& levels = plan.levels();
  const bool in_scope = !cause.work_conserving || levels.includes(request.traffic_class);
  double chance = 0;
  const double most = cause.work_conserving ? 1 : levels.share_of(request.traffic_class);
  double probability = in_scope ? std::min(rule.probability, most) : 0;
  if (in_scope && plan.tenants() != nullptr && shares_count(rule, plan.state(), cause)) {
    const ClassExcess& excess = plan.tenants()->of(request.traffic_class);
    chance = excess.chance(request.tenant) * most;
    probability *= excess.rule_scale();
  }
  // One draw for both: a tenant above its share is refused by the larger of the two chances,
  // not by one after the other.
  const bool is_drawn = chance > 0 || refuses(rule) || refuses_misses(rule);
  const double draw = is_drawn ? random.uniform() : 0;
  Verdict verdict =
      draw < chance ? over_share(rule, cause, chance, draw) : apply(rule, cause, probability, draw);
  const bool is_spared = !in_scope || draw >= most;
  if (verdict.kind == Kind::degrade && refuses_misses(rule) && is_spared)
    verdict.miss = config::Miss::forward;
  verdict.gives_way =
      verdict.kind == Kind::allow_if_short_wait && draw < levels.cut_of(request.traffic_class);
  if (rule.budget && levels.enforces(*rule.budget) && may_try(verdict) &&
      !budgets.try_take(effective, now, verdict.token))
    verdict = refuse(Reason::budget_exceeded, Strategy::deny, rule.retry_after);
  if (verdict.kind != Kind::allow)
    verdict.retry_after = spread_retry_after(verdict.retry_after, random);
  return verdict;
}

Verdict on_miss(const Verdict& degraded) {
  Verdict verdict;
  if (degraded.miss != config::Miss::forward) {
    verdict =
        refuse({degraded.reason, degraded.work_conserving}, Strategy::deny, degraded.retry_after);
    if (degraded.mode == config::DegradeMode::cache_only) verdict.kind = Kind::deny;
  }
  verdict.token = degraded.token;
  return verdict;
}

Milliseconds spread_retry_after(Milliseconds configured, Random& random) {
  const double factor = 1 + random.uniform() / 2;
  return Milliseconds{static_cast<std::int64_t>(double(configured.count()) * factor)};
}

std::string_view name(Verdict::Kind kind) {
  constexpr std::array<std::string_view, 5> names{"allow", "allow_if_short_wait", "degrade", "deny",
                                                  "drop"};
  return names[index(kind)];
}

}  // namespace spillway::overload
