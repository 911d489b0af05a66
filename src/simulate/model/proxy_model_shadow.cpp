// Shadow mode.
#include <utility>

#include "simulate/model/proxy_model.hpp"

namespace spillway::simulate {

using dispatch::Offer;

// Shadow mode: the request is sent at once, and its ghost takes its part at the gate.
ProxyModel::Admission ProxyModel::haunt(Request& request, const dispatch::Terms& terms,
                                        TimePoint now) {
  const auto [offer, ghost] = shadow_.enter(classification_of(request).route, terms, now);
  const bool is_refused = offer.kind == Offer::Kind::refused;
  if (is_refused) budgets_.give_back(request.passage.token);
  if (offer.kind == Offer::Kind::granted) {
    signals_.record_wait(Duration{0});
    signals_.record_admitted();
    tenants_.record_admitted(request.traffic_class,
                             times_.cost.estimate(classification_of(request).route));
  }
  request.passage.token = {};
  request.passage.ghost = ghost;
  forward(request, now);
  const bool would_refuse =
      is_refused && answer_for_refusal(request, now) == overload::DegradedAnswer::none;
  return {Entry::forward, Duration{0}, nullptr, would_refuse};
}

void ProxyModel::leave_shadow(Request& request, TimePoint now) {
  dispatch::ShadowGate::Ghost& ghost = *std::exchange(request.passage.ghost, nullptr);
  if (!request.passage.was_answered) {
    shadow_.left(ghost, now);
    return;
  }
  if (!ghost.is_crowded)
    times_.cost.record(classification_of(request).route, now - request.passage.dispatched,
                       request.degraded);
  shadow_.ended(ghost, now);
}

std::optional<ClassId> ProxyModel::next_ghost_lost() {
  while (const auto event = shadow_.next_event()) {
    signals_.record_wait(event->waited);
    if (event->reason != Reason::none) return event->traffic_class;
    signals_.record_admitted();
    tenants_.record_admitted(event->traffic_class, times_.cost.estimate(event->route));
  }
  return std::nullopt;
}

}  // namespace spillway::simulate
