#include "overload/admission/rules.hpp"

#include <doctest/doctest.h>

#include "overload/admission/budgets.hpp"
#include "overload/admission/plan.hpp"

using namespace spillway;
using namespace spillway::overload;
using namespace std::chrono_literals;
using config::DegradeMode;
using config::Miss;
using config::RuleOverride;
using config::Strategy;

namespace {

constexpr ClassId kP0{0}, kP1{1}, kP2{2};
constexpr RouteId kPlain{0}, kOverriding{1}, kElsewhere{2};

// The second route changes P2; the third leads to another upstream.
config::Config site() {
  config::Config config;
  config.classes.resize(3);
  config.upstreams.resize(2);
  config.upstreams[0].name = "app";
  config.upstreams[1].name = "reports";
  for (config::Upstream& upstream : config.upstreams) {
    upstream.overload.rules = {
        {Strategy::allow, 1.0, 1s}, {Strategy::deny, 0.5, 2s}, {Strategy::deny, 1.0, 5s}};
  }
  config.routes.resize(3);
  config.routes[1].rules = {{.traffic_class = kP2, .probability = 0.25}};
  config.routes[2].upstream = UpstreamId{1};
  config.routes[2].rules = {{.traffic_class = kP2, .strategy = Strategy::drop}};
  return config;
}

config::Stage stage(State name, std::vector<RuleOverride> rules) {
  config::Stage out;
  out.name = name;
  out.rules = std::move(rules);
  return out;
}

config::Config warn_degrade_deny() {
  config::Config config = site();
  config.upstreams[0].overload.stages = {
      stage(State::elevated, {{.traffic_class = kP2, .strategy = Strategy::degrade}}),
      stage(State::overloaded, {{.traffic_class = kP2, .probability = 0.5},
                                {.traffic_class = kP1,
                                 .strategy = Strategy::degrade,
                                 .mode = DegradeMode::cache_only,
                                 .miss = Miss::forward}}),
      stage(State::critical, {{.traffic_class = kP1, .strategy = Strategy::deny}})};
  return config;
}

config::Rule rule_of(const config::Config& config, State state, ClassId id,
                     RouteId route = kPlain) {
  return RuleTables(config, config.upstreams[0]).of(state)->at(route, id).rule;
}

}  // namespace

TEST_CASE("without stages every state has the class rules with the routes' overrides") {
  const config::Config config = site();
  for (const State state : {State::normal, State::overloaded}) {
    CHECK(rule_of(config, state, kP0).strategy == Strategy::allow);
    CHECK(rule_of(config, state, kP1).probability == 0.5);
    CHECK(rule_of(config, state, kP2).probability == 1);
    CHECK(rule_of(config, state, kP2, kOverriding).probability == 0.25);
    CHECK(rule_of(config, state, kP2, kOverriding).retry_after == 5s);
  }
}

TEST_CASE("every field of a rule can be overridden") {
  config::Config config = site();
  config.routes[1].rules = {{.traffic_class = kP1,
                             .strategy = Strategy::degrade,
                             .probability = 0.125,
                             .retry_after = 9s,
                             .mode = DegradeMode::skip_downstream,
                             .miss = Miss::deny,
                             .budget = config::Budget{7, 3}}};
  const config::Rule rule = rule_of(config, State::overloaded, kP1, kOverriding);
  CHECK(rule.strategy == Strategy::degrade);
  CHECK(rule.probability == 0.125);
  CHECK(rule.retry_after == 9s);
  CHECK(rule.mode == DegradeMode::skip_downstream);
  CHECK(rule.miss == Miss::deny);
  REQUIRE(rule.budget);
  CHECK(rule.budget->rate == 7);
  CHECK(rule_of(config, State::overloaded, kP2, kOverriding).probability == 1);
}

TEST_CASE("a warning changes nothing but what its stage says") {
  config::Config config = warn_degrade_deny();
  config.upstreams[0].overload.rules[1].budget = config::Budget{};
  CHECK(rule_of(config, State::elevated, kP0).strategy == Strategy::allow);
  CHECK(rule_of(config, State::elevated, kP1).strategy == Strategy::allow);
  CHECK_FALSE(rule_of(config, State::elevated, kP1).budget);
  CHECK(rule_of(config, State::elevated, kP2).strategy == Strategy::degrade);
  CHECK(rule_of(config, State::elevated, kP2).retry_after == 5s);
  // The route's override is for overload.
  CHECK(rule_of(config, State::elevated, kP2, kOverriding).probability == 1);
  // The same rule is denied without the ladder's warning.
  CHECK(rule_of(site(), State::elevated, kP2).strategy == Strategy::deny);
}

TEST_CASE("a stage lays its rules over those of the section and a route over both") {
  const config::Config config = warn_degrade_deny();
  CHECK(rule_of(config, State::normal, kP2).probability == 1);
  const config::Rule plain = rule_of(config, State::overloaded, kP2);
  CHECK(plain.strategy == Strategy::deny);
  CHECK(plain.probability == 0.5);
  CHECK(rule_of(config, State::overloaded, kP2, kOverriding).probability == 0.25);
  const config::Rule degraded = rule_of(config, State::overloaded, kP1);
  CHECK(degraded.strategy == Strategy::degrade);
  CHECK(degraded.mode == DegradeMode::cache_only);
  CHECK(miss_of(degraded) == Miss::forward);
}

TEST_CASE("CRITICAL goes on from what OVERLOADED has") {
  const config::Config config = warn_degrade_deny();
  CHECK(rule_of(config, State::critical, kP2).probability == 0.5);
  CHECK(rule_of(config, State::critical, kP1).strategy == Strategy::deny);
  CHECK(rule_of(config, State::critical, kP1).probability == 0.5);
  CHECK(rule_of(config, State::critical, kP2, kOverriding).probability == 0.25);

  config::Config without = config;  // no OVERLOADED: from overload.rules
  without.upstreams[0].overload.stages.erase(without.upstreams[0].overload.stages.begin() + 1);
  CHECK(rule_of(without, State::critical, kP2).probability == 1);
}

TEST_CASE("a route changes rules only at the upstream that it leads to") {
  const config::Config config = site();
  CHECK(rule_of(config, State::overloaded, kP2, kElsewhere).strategy == Strategy::deny);
  const RuleTables there(config, config.upstreams[1]);
  CHECK(there.of(State::overloaded)->at(kElsewhere, kP2).rule.strategy == Strategy::drop);
}

TEST_CASE("routes share their class's bucket unless they bring a budget") {
  config::Config config = warn_degrade_deny();
  config.upstreams[0].overload.rules[2].budget = config::Budget{10, 1};
  config.routes[2].upstream = UpstreamId{0};
  config.routes[2].rules = {{.traffic_class = kP2, .budget = config::Budget{5, 1}},
                            {.traffic_class = kP1, .budget = config::Budget{6, 1}}};
  CHECK(count_buckets(config, config.upstreams[0]) == 5);
  CHECK(count_buckets(config, config.upstreams[1]) == 3);
  const RuleTables tables(config, config.upstreams[0]);
  for (const State state : {State::overloaded, State::critical}) {
    const RuleTable& table = *tables.of(state);
    CHECK(table.at(kPlain, kP2).bucket == table.at(kOverriding, kP2).bucket);
    CHECK(table.at(kPlain, kP2).bucket == 2);
    CHECK(table.at(kElsewhere, kP2).bucket == 3);
    CHECK(table.at(kElsewhere, kP1).bucket == 4);
    CHECK(table.at(kElsewhere, kP0).bucket == table.at(kPlain, kP0).bucket);
  }
}

TEST_CASE("below OVERLOADED a refusal is degraded by the rules of the states up to OVERLOADED") {
  const config::Config config = warn_degrade_deny();
  const RuleTables tables(config, config.upstreams[0]);
  const auto degrading = [&](State state, ClassId id) {
    return tables.of(state)->degrading(kPlain, id);
  };
  // Of P1 the rule of OVERLOADED degrades, of P2 that of ELEVATED.
  for (const State state : {State::normal, State::elevated, State::overloaded}) {
    REQUIRE(degrading(state, kP1) != nullptr);
    CHECK(degrading(state, kP1)->mode == DegradeMode::cache_only);
  }
  for (const State state : {State::normal, State::elevated})
    CHECK(degrading(state, kP2)->mode == DegradeMode::stale_ok);
  CHECK(degrading(State::overloaded, kP2) == nullptr);
  CHECK(degrading(State::critical, kP1) == nullptr);
  for (const State state : {State::normal, State::critical})
    CHECK(degrading(state, kP0) == nullptr);
}

TEST_CASE("without stages a refusal is degraded by the class's rule or the route's") {
  config::Config config = site();
  config.routes[1].rules = {{.traffic_class = kP2, .strategy = Strategy::degrade}};
  const RuleTables tables(config, config.upstreams[0]);
  for (const State state : {State::normal, State::overloaded}) {
    CHECK(tables.of(state)->degrading(kPlain, kP2) == nullptr);
    CHECK(tables.of(state)->degrading(kOverriding, kP2) != nullptr);
  }
}
