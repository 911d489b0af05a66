#include "overload/admission/tenant_budgets.hpp"

#include <doctest/doctest.h>

#include "overload/admission/decide.hpp"

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;
using Kind = Verdict::Kind;

namespace {

const TimePoint kStart = TimePoint{} + 1h;

config::Tenants two_tenants() {
  config::Tenants tenants;
  tenants.api_keys = {
      {.name = "paying", .key = "paying-1"},
      {.name = "free", .key = "free-key-1"},
      {.name = "free", .key = "free-key-2", .budget = config::Budget{.rate = 10, .burst = 5}}};
  return tenants;
}

}  // namespace

TEST_CASE("a tenant has one bucket for all its keys, and none without a budget") {
  const TenantBudgets budgets(two_tenants());
  CHECK(budgets.find(0) == nullptr);
  CHECK(budgets.find(config::Tier::kNoNumber) == nullptr);
  TenantBudget* const free = budgets.find(1);
  REQUIRE(free != nullptr);
  CHECK(free->available(kStart) == 5);
  CHECK(free->time_per_request() == 100ms);
  for (int i = 0; i < 5; ++i) CHECK(free->try_take(kStart));
  CHECK_FALSE(free->try_take(kStart));
  CHECK(free->try_take(kStart + 100ms));
  CHECK(TenantBudgets(config::Tenants{}).find(0) == nullptr);
}

TEST_CASE("a rate limit holds in every state, whatever the rule says") {
  config::Config config;
  config.classes.resize(1);
  config.routes.resize(1);
  config.upstreams.resize(1);
  config.upstreams[0].overload.rules = {{.strategy = config::Strategy::allow}};
  Budgets of_classes(config, config.upstreams[0]);
  Random random{1};
  for (const State state : {State::normal, State::overloaded}) {
    const TenantBudgets budgets(two_tenants());
    const auto plan = build_plan(config, config.upstreams[0], state,
                                 state == State::normal ? Reason::none : Reason::queue_saturation);
    const auto passed = [&](TenantBudget* budget, TimePoint now) {
      int count = 0;
      for (int i = 0; i < 50; ++i) {
        const Verdict verdict =
            decide(plan, of_classes, {RouteId{0}, ClassId{0}, TenantId{1}, budget}, now, random);
        if (verdict.kind == Kind::allow) {
          ++count;
          continue;
        }
        REQUIRE(verdict.kind == Kind::deny);
        REQUIRE(verdict.reason == Reason::budget_exceeded);
        REQUIRE(verdict.retry_after >= 100ms);
        REQUIRE(verdict.retry_after <= 150ms);
      }
      return count;
    };
    CHECK(passed(budgets.find(1), kStart) == 5);
    CHECK(passed(budgets.find(1), kStart + 200ms) == 2);
    CHECK(passed(budgets.find(0), kStart) == 50);  // negative control: no budget
  }
}
