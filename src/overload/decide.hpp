// May this request pass? The plan's answer, before the gate has its say.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/ids.hpp"
#include "base/random.hpp"
#include "base/reason.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/budgets.hpp"
#include "overload/plan.hpp"

namespace spillway::overload {

struct Asking {
  RouteId route{};
  ClassId traffic_class{};
  TenantId tenant{};
};

struct Verdict {
  enum class Kind : std::uint8_t {
    allow,
    allow_if_short_wait,  // the gate refuses it if it would have to wait for long
    degrade,              // answer with less; without such an answer: on_miss()
    deny,
    drop,  // refuse without an answer
  };

  Kind kind = Kind::allow;
  bool refuse_silently = false;  // a refusal after allow_if_short_wait is a drop, not a denial
  bool only_if_free = false;     // with allow_if_short_wait: the short wait is none at all
  config::DegradeMode mode = config::DegradeMode::stale_ok;  // with degrade
  config::Miss miss = config::Miss::forward;                 // with degrade
  std::optional<bool> annotate;  // with skip_downstream; unset: where the route has no fallback
  Reason reason = Reason::none;  // of the refusal or degradation; none with allow
  Milliseconds retry_after{0};   // to hand out with the refusal, already spread
  // Compared with one another, draw < probability being the refusal. Both zero when nothing was
  // left to chance.
  double probability = 0;
  double draw = 0;
  // Of the class's budget. Whoever ends the request before its upstream is asked (the gate
  // refuses it, a stored answer will do) gives it back: Budgets::give_back.
  Token token;
};

// dispatch::Terms::certainty by state. In normal operation the waits may show what is coming; under
// overload a place in the queue is for those who will be served. (At four and six times what 16
// slots can do 0.9 and 1.1 % of all refusals came after a wait in vain, with a tenth to spare 0.3
// and 0.7: bench/overload.)
constexpr double certainty_in(State state) { return state == State::normal ? 1 : 0.9; }

// What a rule says by itself. Refused iff draw < rule.probability, draw in [0, 1). While the
// reason is one of capacity the refusal is work-conserving and becomes allow_if_short_wait. A
// `degrade` rule degrades every request. In State::normal: allow. retry_after is the rule's.
Verdict judge(const config::Rule& rule, State state, Reason reason, double draw);

// The rule, the tenant's fair share (TENANT_SHARE) and the class's budget (BUDGET_EXCEEDED)
// together. Takes a token if the request is to try its luck.
Verdict decide(const AdmissionPlan& plan, Budgets& budgets, const Asking& asking, TimePoint now,
               Random& random);

// What becomes of a `degrade` verdict when there is no degraded answer: allow, or a refusal. That
// is work-conserving as any other, but for cache_only, which is the promise not to ask the
// upstream. Where a fallback is wanted and the route has none, it is a refusal too.
Verdict on_miss(const Verdict& degraded);

// configured x U[1, 1.5), so that refused clients do not return all at once.
Milliseconds spread_retry_after(Milliseconds configured, Random& random);

std::string_view name(Verdict::Kind kind);

}  // namespace spillway::overload
