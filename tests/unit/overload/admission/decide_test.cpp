#include "overload/admission/decide.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;
using config::Rule;
using config::Strategy;
using Kind = Verdict::Kind;

namespace {

// Three classes; route 0 plain, route 1 overrides P1's probability and P2's strategy.
config::Config three_classes() {
  config::Config config;
  config.classes.resize(3);
  config.routes.resize(2);
  config.routes[1].rules = {{ClassId{1}, std::nullopt, 0.25, std::nullopt},
                            {ClassId{2}, Strategy::drop, std::nullopt, 9s}};
  config::Upstream upstream;
  upstream.overload.rules = {
      {Strategy::allow, 1.0, 1s}, {Strategy::deny, 0.5, 1s}, {Strategy::deny, 1.0, 5s}};
  config.upstreams = {upstream};
  return config;
}

AdmissionPlan plan_for(State state, Reason reason) {
  const config::Config config = three_classes();
  return build_plan(config, config.upstreams[0], state, reason);
}

Verdict decided(const AdmissionPlan& plan, RouteId route, ClassId traffic_class, Random& random) {
  const config::Config config = three_classes();
  Budgets budgets(config, config.upstreams[0]);
  return decide(plan, budgets, {.route = route, .traffic_class = traffic_class}, TimePoint{},
                random);
}

constexpr RouteId kPlain{0}, kOverriding{1};
constexpr ClassId kP0{0}, kP1{1}, kP2{2};

}  // namespace

TEST_CASE("a draw of 0.4 at probability 0.5 denies and 0.6 allows") {
  const Rule rule{Strategy::deny, 0.5, 2s};
  const Verdict denied = judge(rule, State::overloaded, Reason::tail_latency, 0.4);
  CHECK(denied.kind == Kind::deny);
  CHECK(denied.reason == Reason::tail_latency);
  CHECK(denied.retry_after == 2s);
  CHECK(judge(rule, State::overloaded, Reason::tail_latency, 0.6).kind == Kind::allow);
  CHECK(judge(rule, State::overloaded, Reason::tail_latency, 0.5).kind == Kind::allow);
}

TEST_CASE("probability zero never and probability one always denies") {
  CHECK(judge({Strategy::deny, 0, 1s}, State::overloaded, Reason::error_burst, 0).kind ==
        Kind::allow);
  CHECK(judge({Strategy::deny, 1, 1s}, State::overloaded, Reason::error_burst, 0.999999).kind ==
        Kind::deny);
}

TEST_CASE("a denial for lack of room becomes allow if short wait and others stay denials") {
  const Rule rule{Strategy::deny, 1, 1s};
  for (const Reason reason :
       {Reason::inflight_saturation, Reason::queue_saturation, Reason::queue_wait_risk}) {
    const Verdict verdict = judge(rule, State::overloaded, reason, 0);
    CHECK(verdict.kind == Kind::allow_if_short_wait);
    CHECK(verdict.reason == reason);
    CHECK_FALSE(verdict.refuse_silently);
  }
  for (const Reason reason : {Reason::tail_latency, Reason::event_loop_lag, Reason::error_burst})
    CHECK(judge(rule, State::overloaded, reason, 0).kind == Kind::deny);
}

TEST_CASE("a drop rule drops and is work conserving too") {
  const Rule rule{Strategy::drop, 1, 1s};
  CHECK(judge(rule, State::overloaded, Reason::error_burst, 0).kind == Kind::drop);
  const Verdict verdict = judge(rule, State::overloaded, Reason::queue_saturation, 0);
  CHECK(verdict.kind == Kind::allow_if_short_wait);
  CHECK(verdict.refuse_silently);
}

TEST_CASE("everyone passes while NORMAL") {
  const AdmissionPlan plan = plan_for(State::normal, Reason::none);
  Random random(1);
  for (const ClassId id : {kP0, kP1, kP2})
    for (const RouteId route : {kPlain, kOverriding})
      CHECK(decided(plan, route, id, random).kind == Kind::allow);
}

TEST_CASE("rules are the class's overridden field by field by the route's") {
  const AdmissionPlan plan = plan_for(State::overloaded, Reason::tail_latency);
  CHECK(plan.rule(kPlain, kP1).probability == 0.5);
  CHECK(plan.rule(kOverriding, kP1).probability == 0.25);
  CHECK(plan.rule(kOverriding, kP1).strategy == Strategy::deny);
  CHECK(plan.rule(kOverriding, kP1).retry_after == 1s);
  CHECK(plan.rule(kPlain, kP2).retry_after == 5s);
  CHECK(plan.rule(kOverriding, kP2).strategy == Strategy::drop);
  CHECK(plan.rule(kOverriding, kP2).probability == 1.0);
  CHECK(plan.rule(kOverriding, kP2).retry_after == 9s);
  CHECK(plan.rule(kOverriding, kP0).strategy == Strategy::allow);
  Random random(1);
  CHECK(decided(plan, kPlain, kP2, random).kind == Kind::deny);
  CHECK(decided(plan, kOverriding, kP2, random).kind == Kind::drop);
  CHECK(decided(plan, kPlain, kP0, random).kind == Kind::allow);
}

TEST_CASE("denials come at the configured rate") {
  const AdmissionPlan plan = plan_for(State::overloaded, Reason::tail_latency);
  Random random(3);
  const auto share = [&](RouteId route) {
    int denied = 0;
    for (int i = 0; i < 100000; ++i)
      denied += decided(plan, route, kP1, random).kind == Kind::deny ? 1 : 0;
    return denied / 100000.0;
  };
  CHECK(share(kPlain) == doctest::Approx(0.5).epsilon(0.02));
  CHECK(share(kOverriding) == doctest::Approx(0.25).epsilon(0.03));
}

TEST_CASE("retry after is spread over the configured time and half of it again") {
  Random random(5);
  Milliseconds least{100000}, most{0};
  for (int i = 0; i < 10000; ++i) {
    const Milliseconds value = spread_retry_after(1000ms, random);
    least = std::min(least, value);
    most = std::max(most, value);
  }
  CHECK(least >= 1000ms);
  CHECK(least < 1005ms);
  CHECK(most > 1495ms);
  CHECK(most < 1500ms);
  const AdmissionPlan plan = plan_for(State::overloaded, Reason::tail_latency);
  const Verdict verdict = decided(plan, kPlain, kP2, random);
  CHECK(verdict.retry_after >= 5s);
  CHECK(verdict.retry_after < 7500ms);
}
