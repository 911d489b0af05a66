#include "config/layers.hpp"

#include "unit/config/support.hpp"

namespace spillway::config {

TEST_CASE("an override changes every field that it names and no other") {
  Rule rule;
  apply(RuleOverride{}, rule);
  CHECK(rule.strategy == Strategy::allow);
  CHECK_FALSE(rule.miss.has_value());
  CHECK_FALSE(rule.annotate.has_value());

  RuleOverride changes;
  changes.strategy = Strategy::degrade;
  changes.probability = 0.25;
  changes.retry_after = Milliseconds{7};
  changes.mode = DegradeMode::skip_downstream;
  changes.miss = Miss::fallback;
  changes.annotate = false;
  changes.budget = Budget{3, 4};
  apply(changes, rule);
  CHECK(rule.strategy == Strategy::degrade);
  CHECK(rule.probability == 0.25);
  CHECK(rule.retry_after == Milliseconds{7});
  CHECK(rule.mode == DegradeMode::skip_downstream);
  CHECK(rule.miss == Miss::fallback);
  CHECK(rule.annotate == false);
  REQUIRE(rule.budget.has_value());
  CHECK(rule.budget->rate == 3);

  apply(RuleOverride{}, rule);
  CHECK(rule.annotate == false);
}

TEST_CASE("a class has a rule for each overloaded state and a warning is none") {
  const Config plain = load_good(with(""));
  CHECK(overloaded_rules(plain.overload, ClassId{1}).size() == 1);

  const Config staged = load_good(with(R"("overload":{"stages":[
      {"name":"ELEVATED","enter":{"queue_ratio":0.3},"exit":{"queue_ratio":0.2},
       "rules":{"P1":{"mode":"cache_only"}}},
      {"name":"OVERLOADED","enter":{"queue_ratio":0.5},"exit":{"queue_ratio":0.4},
       "rules":{"P1":{"strategy":"degrade","mode":"skip_downstream"}}},
      {"name":"CRITICAL","enter":{"queue_ratio":0.9},"exit":{"queue_ratio":0.6},
       "rules":{"P1":{"miss":"deny"},"P2":{"strategy":"drop"}}}]})"));
  const auto rules = overloaded_rules(staged.overload, ClassId{1});
  REQUIRE(rules.size() == 2);
  CHECK(rules[0].mode == DegradeMode::skip_downstream);
  CHECK_FALSE(rules[0].miss.has_value());
  CHECK(rules[1].strategy == Strategy::degrade);
  CHECK(rules[1].miss == Miss::deny);
}

}  // namespace spillway::config
