// The admission decision about one request with all its inputs, as written to the access log.
//
// A plain value. record_of() fills in the verdict's part; the caller of the gate fills in the
// members from `wait` on.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ids.hpp"
#include "base/reason.hpp"
#include "base/state.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/admission/decide.hpp"

namespace spillway::overload {

struct DecisionRecord {
  RouteId route{};
  ClassId traffic_class{};
  TenantId tenant{};
  State state = State::normal;                      // of the upstream
  Reason overload = Reason::none;                   // why the upstream is overloaded
  config::Strategy rule = config::Strategy::allow;  // the strategy that applied; none in NORMAL
  Verdict::Kind verdict = Verdict::Kind::allow;
  Reason reason = Reason::none;  // of the refusal, then also the gate's; none when allowed
  double probability = 0;        // see Verdict
  double draw = 0;

  Duration wait{0};                        // for its slot
  std::optional<Duration> predicted_wait;  // nullopt: no prediction
  TimePoint deadline = kNever;
  std::uint32_t limit = 0;    // the concurrency limit in force
  bool newest_first = false;  // the order of its class's queue
};

inline DecisionRecord record_of(const AdmissionRequest& request, const AdmissionPlan& plan,
                                const Verdict& verdict) {
  DecisionRecord record;
  record.route = request.route;
  record.traffic_class = request.traffic_class;
  record.tenant = request.tenant;
  record.state = plan.state();
  record.overload = plan.reason();
  record.newest_first = is_newest_first(plan.order(), request.traffic_class);
  if (plan.state() != State::normal)
    record.rule = plan.rule(request.route, request.traffic_class).strategy;
  record.verdict = verdict.kind;
  record.reason = verdict.reason;
  record.probability = verdict.probability;
  record.draw = verdict.draw;
  return record;
}

}  // namespace spillway::overload
