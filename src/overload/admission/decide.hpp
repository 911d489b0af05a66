// The admission decision for one request: a Verdict from the tenant's budget, the plan's rule, the
// tenant's fair share and the class's budget. Pure; the gate (a slot, a queue, or neither) has the
// last word afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/ids.hpp"
#include "base/random.hpp"
#include "base/reason.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/admission/budgets.hpp"
#include "overload/admission/cause.hpp"
#include "overload/admission/plan.hpp"
#include "overload/admission/tenant_budgets.hpp"

namespace spillway::overload {

struct AdmissionRequest {
  RouteId route{};
  ClassId traffic_class{};
  TenantId tenant{};
  TenantBudget* budget = nullptr;  // its tenant's rate limit; null: none
};

struct Verdict {
  enum class Kind : std::uint8_t {
    allow,
    allow_if_short_wait,  // the gate refuses it if it would have to wait for long
    degrade,              // send a cheaper response; if there is none: on_miss()
    deny,
    drop,  // refuse by closing the connection, without a response
  };

  Kind kind = Kind::allow;
  bool refuse_silently = false;  // a refusal after allow_if_short_wait is a drop, not a denial
  bool work_conserving = false;  // of degrade: a refusal on a miss is allow_if_short_wait
  bool gives_way = false;        // with allow_if_short_wait: refused while a higher class waits
  bool only_if_free = false;     // with allow_if_short_wait: not even a short wait
  config::DegradeMode mode = config::DegradeMode::stale_ok;  // with degrade
  config::Miss miss = config::Miss::forward;                 // with degrade
  std::optional<bool> annotate;  // with skip_downstream; unset: where the route has no fallback
  Reason reason = Reason::none;  // of the refusal or degradation; none with allow
  Milliseconds retry_after{0};   // to hand out with the refusal, already spread
  // The two numbers compared: draw < probability means refusal. Both are zero if nothing was left
  // to chance.
  double probability = 0;
  double draw = 0;
  // Taken from the class's budget. To be returned with Budgets::give_back if the request ends
  // before it is sent upstream (refused by the gate, served from the cache).
  Token token;
};

// dispatch::Terms::certainty by state. Under overload a request is queued only if its predicted
// wait is at most 90 % of its limit, so that fewer requests wait and are then refused. (At four and
// six times the capacity of 16 slots 0.9 and 1.1 % of all refusals came after a wait; with this
// margin 0.3 and 0.7 %: bench/overload.) In normal operation waits are a signal of their own and
// are not cut short.
constexpr double certainty_in(State state) { return state == State::normal ? 1 : 0.9; }

// The verdict of a rule alone: a refusal if and only if draw < rule.probability, draw in [0, 1). A
// work-conserving refusal becomes allow_if_short_wait. A `degrade` rule degrades every request. In
// State::normal: allow. retry_after is the rule's, without jitter.
Verdict judge(const config::Rule& rule, State state, Cause cause, double draw);

// The tenant's budget (BUDGET_EXCEEDED) in every state; while overloaded also the rule, the
// tenant's fair share (TENANT_SHARE) and the class's budget (BUDGET_EXCEEDED). If a rule degrades
// with stale_ok and refuses misses, misses beyond the plan's levels are forwarded: all requests
// are degraded, but no more are refused than by a rule that denies. The tenant's token is spent
// whatever becomes of the request; the class's token is taken only if the request may go
// upstream.
Verdict decide(const AdmissionPlan& plan, Budgets& budgets, const AdmissionRequest& request,
               TimePoint now, Random& random);

// A refusal by the tenant's rate limit, which holds in every state: the request would never have
// reached the upstream, and is no load on it. `rule`: its own, which shows any budget of the class.
constexpr bool is_over_rate(const Verdict& verdict, State state, const config::Rule& rule) {
  return verdict.reason == Reason::budget_exceeded && (state == State::normal || !rule.budget);
}

// The verdict that replaces `degrade` when there is no degraded response: allow, or a refusal, by
// the rule's `miss`. That refusal is work-conserving where any other would be, except in mode
// cache_only, which promises never to ask the upstream. A missing fallback refuses as well.
Verdict on_miss(const Verdict& degraded);

// configured x U[1, 1.5): jitter, so that refused clients do not retry in phase.
Milliseconds spread_retry_after(Milliseconds configured, Random& random);

std::string_view name(Verdict::Kind kind);

}  // namespace spillway::overload
