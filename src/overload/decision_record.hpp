// Why a request fared as it did, as one value: the access log tells it whole.
//
// A plain value. record_of() fills in what the decision knows; the gate's part, from `wait` on, is
// filled in by whoever asks the gate.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ids.hpp"
#include "base/reason.hpp"
#include "base/state.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/decide.hpp"

namespace spillway::overload {

struct DecisionRecord {
  RouteId route{};
  ClassId traffic_class{};
  TenantId tenant{};
  State state = State::normal;                      // of the upstream
  Reason overload = Reason::none;                   // what the upstream is overloaded with
  config::Strategy rule = config::Strategy::allow;  // what counts: in NORMAL none of the rules
  Verdict::Kind verdict = Verdict::Kind::allow;
  Reason reason = Reason::none;  // of the refusal, then also the gate's; none when allowed
  double probability = 0;        // see Verdict
  double draw = 0;

  Duration wait{0};                        // for its slot
  std::optional<Duration> predicted_wait;  // nullopt: no prediction
  TimePoint deadline = kNever;
  std::uint32_t limit = 0;  // the concurrency cap
};

inline DecisionRecord record_of(const Asking& asking, const AdmissionPlan& plan,
                                const Verdict& verdict) {
  DecisionRecord record;
  record.route = asking.route;
  record.traffic_class = asking.traffic_class;
  record.tenant = asking.tenant;
  record.state = plan.state();
  record.overload = plan.reason();
  if (plan.state() != State::normal)
    record.rule = plan.rule(asking.route, asking.traffic_class).strategy;
  record.verdict = verdict.kind;
  record.reason = verdict.reason;
  record.probability = verdict.probability;
  record.draw = verdict.draw;
  return record;
}

}  // namespace spillway::overload
