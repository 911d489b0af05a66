// Degraded answers: stored or prepared ones, and work that is skipped.
#include "simulate/model/proxy_model.hpp"

namespace spillway::simulate {

using overload::DegradedAnswer;
using overload::Verdict;

void ProxyModel::answer_from_store(Request& request, bool degraded) {
  request.degraded = degraded;
  request.answered_by = AnsweredBy::cache;
}

void ProxyModel::answer_by_fallback(Request& request) {
  request.degraded = true;
  request.answered_by = AnsweredBy::fallback;
}

bool ProxyModel::answers_error(Request& request, TimePoint now) {
  if (is_shadow() ||
      !store_.answers_error(classification_of(request).route, request.demand.key, now))
    return false;
  answer_from_store(request, true);
  return true;
}

overload::AtHand ProxyModel::at_hand(const Request& request, TimePoint now) const {
  const RouteId route = classification_of(request).route;
  return {.stored = store_.answers_degraded(route, request.demand.key, now),
          .fallback = scenario_.config.routes[index(route)].fallback.has_value()};
}

DegradedAnswer ProxyModel::answer_for_refusal(const Request& request, TimePoint now) const {
  const config::Rule* const degrading =
      controller_.plan()->degrading(classification_of(request).route, request.traffic_class);
  if (degrading == nullptr) return DegradedAnswer::none;
  return overload::answer_for_refusal(*degrading, at_hand(request, now));
}

// An answer that costs the upstream nothing takes precedence over every refusal, also for a tenant
// above its share or a class whose budget is spent.
void ProxyModel::prefer_free_answer(const Request& request, Verdict& verdict, TimePoint now) {
  const overload::AdmissionPlan& plan = *controller_.plan();
  const config::Rule& rule = plan.rule(classification_of(request).route, request.traffic_class);
  if (plan.state() == State::normal || rule.strategy != config::Strategy::degrade) return;
  if (!costs_nothing(overload::answer_of_mode(rule.mode, rule.annotate, at_hand(request, now))))
    return;
  budgets_.give_back(verdict.token);
  verdict = overload::judge(rule, plan.state(), plan.cause(), 0);
}

void ProxyModel::degrade(Request& request, DegradedAnswer answer) const {
  switch (answer) {
    case DegradedAnswer::stored: answer_from_store(request, true); break;
    case DegradedAnswer::fallback: answer_by_fallback(request); break;
    case DegradedAnswer::cheaper:
      request.degraded = true;
      request.work *= scenario_.backend.degraded_factor;
      break;
    case DegradedAnswer::none: break;
  }
}

}  // namespace spillway::simulate
