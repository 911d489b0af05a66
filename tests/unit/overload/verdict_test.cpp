// Degraded responses, budgets and tenants' shares in one decision.
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <vector>

#include "overload/admission/decide.hpp"
#include "overload/admission/decision_record.hpp"

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;
using config::Budget;
using config::DegradeMode;
using config::Miss;
using config::Rule;
using config::Strategy;
using Kind = Verdict::Kind;

namespace {

const TimePoint kStart = TimePoint{} + 1h;
constexpr ClassId kOnly{0};
constexpr RouteId kPlain{0}, kBudgeted{1};
constexpr TenantId kHeavy{1}, kQuiet{2};

constexpr Reason kCapacity[] = {Reason::inflight_saturation, Reason::queue_saturation,
                                Reason::queue_wait_risk};
constexpr Reason kDistrust[] = {Reason::tail_latency, Reason::event_loop_lag, Reason::error_burst};

Rule degrading(DegradeMode mode, std::optional<Miss> miss = std::nullopt) {
  return {.strategy = Strategy::degrade, .retry_after = 2s, .mode = mode, .miss = miss};
}

// One class with one rule, two routes and, if wished, heavy and quiet tenants.
struct Desk {
  explicit Desk(const Rule& rule, std::optional<Budget> of_route = std::nullopt) {
    config.classes.resize(1);
    config.routes.resize(2);
    config.routes[1].rules = {{.traffic_class = kOnly, .budget = of_route}};
    config.upstreams.resize(1);
    config.upstreams[0].overload.rules = {rule};
    rules.emplace(config, config.upstreams[0]);
    budgets.emplace(config, config.upstreams[0]);
  }

  Verdict ask(Reason reason, TenantId tenant = kQuiet, RouteId route = kPlain,
              TimePoint now = kStart) {
    const AdmissionPlan plan(state, reason, rules->of(state), tenants, levels);
    return decide(plan, *budgets, {route, kOnly, tenant}, now, random);
  }
  int allowed_of(int requests, Reason reason, TimePoint now = kStart) {
    int allowed = 0;
    for (int i = 0; i < requests; ++i)
      allowed += ask(reason, kQuiet, kPlain, now).kind != Kind::deny ? 1 : 0;
    return allowed;
  }
  // The share of verdicts of a kind and reason.
  double share(Reason overload, TenantId tenant, Kind kind, Reason reason) {
    int count = 0;
    for (int i = 0; i < 20000; ++i) {
      const Verdict verdict = ask(overload, tenant);
      count += verdict.kind == kind && verdict.reason == reason ? 1 : 0;
    }
    return count / 20000.0;
  }
  // The heavy tenant is above its share with the chance `chance`.
  void cut_heavy(double chance, double rule_scale) {
    const Excess excess[] = {{kHeavy, chance}};
    tenants = std::make_shared<const TenantExcess>(std::vector{ClassExcess(excess, rule_scale)});
  }

  config::Config config;
  State state = State::overloaded;
  std::optional<RuleTables> rules;
  std::optional<Budgets> budgets;
  std::shared_ptr<const TenantExcess> tenants;
  ShedLevels levels;
  Random random{1};
};

}  // namespace

TEST_CASE("a degrade rule degrades every request in its mode whatever the probability") {
  for (const DegradeMode mode :
       {DegradeMode::stale_ok, DegradeMode::cache_only, DegradeMode::skip_downstream}) {
    Rule rule = degrading(mode);
    rule.probability = 0;
    Desk desk(rule);
    for (const Reason reason : {Reason::tail_latency, Reason::queue_saturation}) {
      const Verdict verdict = desk.ask(reason);
      CHECK(verdict.kind == Kind::degrade);
      CHECK(verdict.mode == mode);
      CHECK(verdict.reason == reason);
    }
    desk.state = State::normal;
    CHECK(desk.ask(Reason::none).kind == Kind::allow);
  }
}

TEST_CASE("without a degraded response the request is forwarded or refused by its rule") {
  const auto missed = [](const Rule& rule, Reason reason) {
    return on_miss(Desk(rule).ask(reason));
  };
  for (const DegradeMode mode : {DegradeMode::stale_ok, DegradeMode::skip_downstream})
    CHECK(missed(degrading(mode), Reason::tail_latency).kind == Kind::allow);
  CHECK(missed(degrading(DegradeMode::cache_only, Miss::forward), Reason::tail_latency).kind ==
        Kind::allow);
  const Verdict refused = missed(degrading(DegradeMode::cache_only), Reason::tail_latency);
  CHECK(refused.kind == Kind::deny);
  CHECK(refused.reason == Reason::tail_latency);
  CHECK(refused.retry_after >= 2s);
  CHECK(refused.retry_after < 3s);
  CHECK(missed(degrading(DegradeMode::stale_ok, Miss::deny), Reason::error_burst).kind ==
        Kind::deny);
  // Work-conserving, but for the mode that is the promise not to ask the upstream.
  for (const Reason reason : kCapacity) {
    CHECK(missed(degrading(DegradeMode::stale_ok, Miss::deny), reason).kind ==
          Kind::allow_if_short_wait);
    CHECK(missed(degrading(DegradeMode::cache_only), reason).kind == Kind::deny);
  }
}

TEST_CASE("of misses no more are refused than a rule that denies refuses") {
  const auto refused = [](const Rule& rule, Reason reason, const ShedLevels& levels) {
    Desk desk(rule);
    desk.levels = levels;
    int count = 0;
    for (int n = 0; n < 1000; ++n) {
      const Verdict verdict = desk.ask(reason);
      CHECK(verdict.kind == Kind::degrade);
      count += on_miss(verdict).kind != Kind::allow;
    }
    return count;
  };
  const Rule stale_ok = degrading(DegradeMode::stale_ok, Miss::deny);
  ShedLevels few;
  few.share.fill(0.2F);
  for (const Reason reason : {Reason::event_loop_lag, Reason::error_burst}) {
    CHECK(refused(stale_ok, reason, {}) == 1000);
    CHECK(refused(stale_ok, reason, few) == doctest::Approx(200).epsilon(0.2));
    CHECK(refused(degrading(DegradeMode::cache_only), reason, few) == 1000);
  }
  ShedLevels none;
  none.in_scope = 0;
  for (const Reason reason : kCapacity) {
    CHECK(refused(stale_ok, reason, few) == 1000);  // while no slot is free
    CHECK(refused(stale_ok, reason, none) == 0);
    CHECK(refused(degrading(DegradeMode::cache_only), reason, none) == 1000);
  }
}

TEST_CASE("a budget lets its burst and then its rate through while overloaded") {
  Desk desk(Rule{.strategy = Strategy::allow, .budget = Budget{10, 5}});
  CHECK(desk.allowed_of(100, Reason::tail_latency) == 5);
  const Verdict verdict = desk.ask(Reason::tail_latency);
  CHECK(verdict.kind == Kind::deny);
  CHECK(verdict.reason == Reason::budget_exceeded);
  CHECK(verdict.retry_after >= 1s);
  CHECK(desk.allowed_of(100, Reason::tail_latency, kStart + 300ms) == 3);
  desk.state = State::normal;
  CHECK(desk.allowed_of(100, Reason::none) == 100);
}

TEST_CASE("a budget that is not in force keeps its tokens, but one of rate 0 is always in force") {
  Desk desk(Rule{.strategy = Strategy::allow, .budget = Budget{10, 5}});
  desk.levels.budgets = false;
  CHECK(desk.allowed_of(100, Reason::inflight_saturation) == 100);
  desk.levels.budgets = true;
  CHECK(desk.allowed_of(100, Reason::inflight_saturation) == 5);

  Desk none(Rule{.strategy = Strategy::allow, .budget = Budget{0, 1}});
  none.levels.budgets = false;
  CHECK(none.allowed_of(100, Reason::inflight_saturation) == 0);
}

TEST_CASE("an empty budget is never work conserving") {
  for (const Reason reason : kCapacity) {
    Desk fresh(Rule{.strategy = Strategy::deny, .probability = 1, .budget = Budget{1, 1}});
    CHECK(fresh.ask(reason).kind == Kind::allow_if_short_wait);
    CHECK(fresh.ask(reason).kind == Kind::deny);
    CHECK(fresh.ask(reason).reason == Reason::budget_exceeded);
  }
}

TEST_CASE("a refused request costs no token and one refused by the gate gives it back") {
  Desk desk(Rule{.strategy = Strategy::deny, .probability = 1, .budget = Budget{1, 1}});
  for (int i = 0; i < 10; ++i) CHECK(desk.ask(Reason::tail_latency).reason == Reason::tail_latency);
  for (int i = 0; i < 10; ++i) {
    Verdict verdict = desk.ask(Reason::queue_saturation);
    REQUIRE(verdict.kind == Kind::allow_if_short_wait);
    desk.budgets->give_back(verdict.token);
    desk.budgets->give_back(verdict.token);  // a second time is nothing
  }
  CHECK(desk.ask(Reason::queue_saturation).kind == Kind::allow_if_short_wait);
  CHECK(desk.ask(Reason::queue_saturation).reason == Reason::budget_exceeded);
}

TEST_CASE("a degraded request costs a token if it may be forwarded") {
  const auto cost = [](const Rule& rule, Reason reason) {
    Rule budgeted = rule;
    budgeted.budget = Budget{0.001, 1};
    Desk desk(budgeted);
    desk.ask(reason);
    return desk.ask(reason).reason == Reason::budget_exceeded;
  };
  CHECK(cost(degrading(DegradeMode::stale_ok), Reason::tail_latency));
  CHECK_FALSE(cost(degrading(DegradeMode::cache_only), Reason::tail_latency));
  CHECK_FALSE(cost(degrading(DegradeMode::cache_only), Reason::queue_saturation));
  CHECK(cost(degrading(DegradeMode::skip_downstream, Miss::deny), Reason::tail_latency));

  Rule rule = degrading(DegradeMode::stale_ok);
  rule.budget = Budget{0.001, 1};
  Desk desk(rule);
  Verdict missed = on_miss(desk.ask(Reason::tail_latency));
  desk.budgets->give_back(missed.token);  // the token goes along
  CHECK(desk.ask(Reason::tail_latency).kind == Kind::degrade);
}

TEST_CASE("a route with a budget of its own does not spend its class's") {
  Desk desk(Rule{.strategy = Strategy::allow, .budget = Budget{1, 2}}, Budget{1, 3});
  int of_route = 0;
  for (int i = 0; i < 10; ++i)
    of_route += desk.ask(Reason::error_burst, kQuiet, kBudgeted).kind == Kind::allow ? 1 : 0;
  CHECK(of_route == 3);
  CHECK(desk.allowed_of(10, Reason::error_burst) == 2);

  Desk shared(Rule{.strategy = Strategy::allow, .budget = Budget{1, 2}});
  CHECK(shared.ask(Reason::error_burst, kQuiet, kBudgeted).kind == Kind::allow);
  CHECK(shared.allowed_of(10, Reason::error_burst) == 1);
}

TEST_CASE("for lack of room a tenant above its share passes only where a slot is free") {
  for (const Strategy strategy : {Strategy::allow, Strategy::deny, Strategy::drop}) {
    Desk desk(Rule{.strategy = strategy, .probability = 0});
    desk.cut_heavy(0.75, 0);
    const auto share = [&](TenantId tenant) {
      return desk.share(Reason::queue_saturation, tenant, Kind::allow_if_short_wait,
                        Reason::tenant_share);
    };
    CHECK(share(kHeavy) == doctest::Approx(0.75).epsilon(0.03));
    CHECK(share(kQuiet) == 0);
  }
  Desk desk(Rule{});
  desk.cut_heavy(1, 0);
  const Verdict verdict = desk.ask(Reason::inflight_saturation, kHeavy);
  CHECK(verdict.only_if_free);
  CHECK_FALSE(verdict.refuse_silently);
  CHECK(desk.ask(Reason::inflight_saturation, kQuiet).kind == Kind::allow);
}

TEST_CASE("for lack of room too heavy tenants stand in for the others") {
  const auto share_of_quiet = [](double rule_scale) {
    Desk desk(Rule{.strategy = Strategy::deny, .probability = 0.5});
    desk.cut_heavy(0.75, rule_scale);
    return desk.share(Reason::queue_wait_risk, kQuiet, Kind::allow_if_short_wait,
                      Reason::queue_wait_risk);
  };
  CHECK(share_of_quiet(0) == 0);
  CHECK(share_of_quiet(0.5) == doctest::Approx(0.25).epsilon(0.05));
  CHECK(share_of_quiet(1) == doctest::Approx(0.5).epsilon(0.03));
}

TEST_CASE("for a reason other than capacity heavy tenants are denied before others") {
  for (const Strategy strategy : {Strategy::deny, Strategy::drop}) {
    Desk desk(Rule{.strategy = strategy, .probability = 0.5});
    desk.cut_heavy(0.75, 0);
    CHECK(desk.share(Reason::tail_latency, kHeavy, Kind::deny, Reason::tenant_share) ==
          doctest::Approx(0.75).epsilon(0.03));
    CHECK(desk.share(Reason::tail_latency, kHeavy, Kind::allow, Reason::none) ==
          doctest::Approx(0.25).epsilon(0.05));
    CHECK(desk.share(Reason::tail_latency, kQuiet, Kind::allow, Reason::none) == 1);
  }
  Desk desk(Rule{.strategy = Strategy::deny, .probability = 0.5});
  desk.cut_heavy(0.3, 0.5);  // the others bear half of the rule, the heavy one a little more
  CHECK(desk.share(Reason::error_burst, kQuiet, Kind::deny, Reason::error_burst) ==
        doctest::Approx(0.25).epsilon(0.05));
  CHECK(desk.share(Reason::error_burst, kHeavy, Kind::allow, Reason::none) ==
        doctest::Approx(0.7).epsilon(0.03));
}

TEST_CASE("where the upstream is not to be trusted only a refusing rule cuts tenants") {
  for (const Rule& rule : {Rule{.strategy = Strategy::allow}, degrading(DegradeMode::stale_ok)}) {
    Desk desk(rule);
    desk.cut_heavy(1, 0);
    for (const Reason reason : kDistrust)
      CHECK(desk.ask(reason, kHeavy).reason != Reason::tenant_share);
  }
}

TEST_CASE("a warning cuts no tenant unless its rule refuses") {
  Desk desk(Rule{.strategy = Strategy::allow});
  desk.cut_heavy(1, 0);
  desk.state = State::elevated;
  for (const Reason reason : kCapacity) CHECK(desk.ask(reason, kHeavy).kind == Kind::allow);
  desk.state = State::critical;
  CHECK(desk.ask(Reason::queue_saturation, kHeavy).reason == Reason::tenant_share);
  Desk refusing(Rule{.strategy = Strategy::deny, .probability = 0.1});
  refusing.cut_heavy(1, 0);
  refusing.state = State::elevated;
  CHECK(refusing.ask(Reason::tail_latency, kHeavy).reason == Reason::tenant_share);
}

TEST_CASE("a refusal by a tenant's rate limit is known from one by a class's budget") {
  struct Case {
    Reason reason;
    State state;
    bool has_budget, is_over_rate;
  };
  const std::vector<Case> cases{
      {Reason::budget_exceeded, State::normal, false, true},
      {Reason::budget_exceeded, State::normal, true, true},  // no rule holds in NORMAL
      {Reason::budget_exceeded, State::overloaded, false, true},
      {Reason::budget_exceeded, State::overloaded, true, false},
      {Reason::tenant_share, State::overloaded, false, false},
      {Reason::queue_saturation, State::overloaded, false, false},
      {Reason::none, State::normal, false, false},
  };
  for (const Case& one : cases) {
    CAPTURE(int(one.reason));
    CAPTURE(int(one.state));
    Rule rule;
    if (one.has_budget) rule.budget.emplace();
    Verdict verdict;
    verdict.reason = one.reason;
    CHECK(is_over_rate(verdict, one.state, rule) == one.is_over_rate);
  }
}

TEST_CASE("a record has the request's class and the draw") {
  Desk desk(Rule{.strategy = Strategy::deny, .probability = 0.5});
  desk.cut_heavy(0.75, 1);
  const AdmissionPlan plan(State::overloaded, Reason::tail_latency,
                           desk.rules->of(State::overloaded), desk.tenants);
  int denied = 0;
  for (int i = 0; i < 1000; ++i) {
    const AdmissionRequest asking{kBudgeted, kOnly, i % 2 == 0 ? kHeavy : kQuiet};
    const Verdict verdict = decide(plan, *desk.budgets, asking, kStart, desk.random);
    const DecisionRecord record = record_of(asking, plan, verdict);
    REQUIRE(record.route == kBudgeted);
    REQUIRE(record.tenant == asking.tenant);
    REQUIRE(record.state == State::overloaded);
    REQUIRE(record.overload == Reason::tail_latency);
    REQUIRE(record.rule == Strategy::deny);
    REQUIRE(record.verdict == verdict.kind);
    // Denied if and only if the draw is below the probability.
    REQUIRE((record.verdict == Kind::deny) == (record.draw < record.probability));
    REQUIRE((record.reason == Reason::tenant_share) == (record.probability == 0.75));
    denied += record.verdict == Kind::deny ? 1 : 0;
  }
  CHECK(denied > 500);
  const DecisionRecord allowed = record_of({}, plan, Verdict{});
  CHECK(allowed.reason == Reason::none);
  CHECK(allowed.deadline == kNever);
  CHECK_FALSE(allowed.predicted_wait);
}
