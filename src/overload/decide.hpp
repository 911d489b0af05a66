// May this request pass? The plan's answer, before the gate has its say.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.hpp"
#include "base/random.hpp"
#include "base/reason.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/plan.hpp"

namespace spillway::overload {

struct Verdict {
  enum class Kind : std::uint8_t {
    allow,
    allow_if_short_wait,  // the gate refuses it if it would have to wait for long
    deny,
    drop,  // refuse without an answer
  };

  Kind kind = Kind::allow;
  bool refuse_silently = false;  // a refusal after allow_if_short_wait is a drop, not a denial
  Reason reason = Reason::none;  // of the refusal; none with allow
  Milliseconds retry_after{0};   // to hand out with the refusal, already spread
};

// Refused iff draw < rule.probability, draw in [0, 1). While the reason is one of capacity the
// refusal is work-conserving and becomes allow_if_short_wait. In State::normal: allow. A
// `degrade` rule forwards as long as there is nothing to answer from. retry_after is the
// rule's.
Verdict judge(const config::Rule& rule, State state, Reason reason, double draw);

Verdict decide(const AdmissionPlan& plan, RouteId route, ClassId traffic_class, Random& random);

// configured x U[1, 1.5), so that refused clients do not return all at once.
Milliseconds spread_retry_after(Milliseconds configured, Random& random);

std::string_view name(Verdict::Kind kind);

}  // namespace spillway::overload
