#include "overload/decide.hpp"

#include <array>

namespace spillway::overload {
namespace {

bool refuses(const config::Rule& rule, State state) {
  return state != State::normal &&
         (rule.strategy == config::Strategy::deny || rule.strategy == config::Strategy::drop);
}

Verdict spread(Verdict verdict, Random& random) {
  if (verdict.kind != Verdict::Kind::allow)
    verdict.retry_after = spread_retry_after(verdict.retry_after, random);
  return verdict;
}

}  // namespace

Verdict judge(const config::Rule& rule, State state, Reason reason, double draw) {
  Verdict verdict;
  if (!refuses(rule, state) || draw >= rule.probability) return verdict;
  verdict.refuse_silently = rule.strategy == config::Strategy::drop;
  verdict.reason = reason;
  verdict.retry_after = rule.retry_after;
  verdict.kind = is_capacity(reason)       ? Verdict::Kind::allow_if_short_wait
                 : verdict.refuse_silently ? Verdict::Kind::drop
                                           : Verdict::Kind::deny;
  return verdict;
}

Verdict decide(const AdmissionPlan& plan, RouteId route, ClassId traffic_class, Random& random) {
  if (plan.state() == State::normal) return {};
  const config::Rule& rule = plan.rule(route, traffic_class);
  if (!refuses(rule, plan.state())) return {};
  return spread(judge(rule, plan.state(), plan.reason(), random.uniform()), random);
}

Milliseconds spread_retry_after(Milliseconds configured, Random& random) {
  const double factor = 1 + random.uniform() / 2;
  return Milliseconds{static_cast<std::int64_t>(double(configured.count()) * factor)};
}

std::string_view name(Verdict::Kind kind) {
  constexpr std::array<std::string_view, 4> names{"allow", "allow_if_short_wait", "deny", "drop"};
  return names[index(kind)];
}

}  // namespace spillway::overload
