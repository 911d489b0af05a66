#include "overload/admission/degraded_answer.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <vector>

namespace spillway::overload {
namespace {

using config::DegradeMode;
using config::Miss;
using enum DegradedAnswer;

constexpr std::optional<bool> kUnset = std::nullopt;

// What there is: nothing, a stored response, the fallback, both.
constexpr AtHand kAtHand[] = {{false, false}, {true, false}, {false, true}, {true, true}};

struct Row {
  DegradeMode mode;
  std::optional<Miss> miss;
  DegradedAnswer of[4];  // by kAtHand
};

config::Rule rule_of(DegradeMode mode, std::optional<Miss> miss, std::optional<bool> annotate) {
  return {.strategy = config::Strategy::degrade, .mode = mode, .miss = miss, .annotate = annotate};
}

Verdict degraded_by(const config::Rule& rule) {
  return judge(rule, State::overloaded, Reason::queue_saturation, 0);
}

}  // namespace

TEST_CASE("a rule's mode gives what is stored or the fallback, or asks for less") {
  struct Case {
    DegradeMode mode;
    std::optional<bool> annotate;
    DegradedAnswer of[4];
  };
  const std::vector<Case> cases{
      {DegradeMode::stale_ok, kUnset, {none, stored, none, stored}},
      {DegradeMode::cache_only, kUnset, {none, stored, none, stored}},
      {DegradeMode::skip_downstream, kUnset, {cheaper, cheaper, fallback, fallback}},
      {DegradeMode::skip_downstream, true, {cheaper, cheaper, cheaper, cheaper}},
      {DegradeMode::skip_downstream, false, {none, none, fallback, fallback}},
      // annotate belongs to skip_downstream
      {DegradeMode::stale_ok, true, {none, stored, none, stored}},
      {DegradeMode::cache_only, true, {none, stored, none, stored}},
  };
  for (const Case& one : cases) {
    for (int i = 0; i < 4; ++i) {
      CAPTURE(int(one.mode));
      CAPTURE(i);
      CHECK(answer_of_mode(one.mode, one.annotate, kAtHand[i]) == one.of[i]);
    }
  }
}

TEST_CASE("a degraded request gets the fallback for a miss only if the rule says so") {
  const std::vector<Row> rows{
      {DegradeMode::stale_ok, std::nullopt, {none, stored, none, stored}},
      {DegradeMode::stale_ok, Miss::forward, {none, stored, none, stored}},
      {DegradeMode::stale_ok, Miss::deny, {none, stored, none, stored}},
      {DegradeMode::stale_ok, Miss::fallback, {none, stored, fallback, stored}},
      {DegradeMode::cache_only, std::nullopt, {none, stored, none, stored}},
      {DegradeMode::cache_only, Miss::fallback, {none, stored, fallback, stored}},
  };
  for (const Row& row : rows) {
    for (int i = 0; i < 4; ++i) {
      CAPTURE(int(row.mode));
      CAPTURE(i);
      CHECK(degraded_answer(degraded_by(rule_of(row.mode, row.miss, kUnset)), kAtHand[i]) ==
            row.of[i]);
    }
  }
}

TEST_CASE("skip_downstream gives its own fallback whatever its miss") {
  for (const std::optional<bool> annotate : {kUnset, std::optional(true), std::optional(false)}) {
    for (const std::optional<Miss> miss :
         {std::optional<Miss>(), std::optional(Miss::forward), std::optional(Miss::fallback),
          std::optional(Miss::deny)}) {
      for (const AtHand has : kAtHand) {
        const auto rule = rule_of(DegradeMode::skip_downstream, miss, annotate);
        CHECK(degraded_answer(degraded_by(rule), has) == answer_of_mode(rule.mode, annotate, has));
      }
    }
  }
}

TEST_CASE("before a refusal goes what is stored or the fallback unless deny is written") {
  const std::vector<Row> rows{
      {DegradeMode::stale_ok, std::nullopt, {none, stored, fallback, stored}},
      {DegradeMode::stale_ok, Miss::forward, {none, stored, fallback, stored}},
      {DegradeMode::stale_ok, Miss::fallback, {none, stored, fallback, stored}},
      {DegradeMode::stale_ok, Miss::deny, {none, stored, none, stored}},
      // its miss is deny, which is not written
      {DegradeMode::cache_only, std::nullopt, {none, stored, fallback, stored}},
      {DegradeMode::cache_only, Miss::deny, {none, stored, none, stored}},
      {DegradeMode::skip_downstream, std::nullopt, {none, none, fallback, fallback}},
      {DegradeMode::skip_downstream, Miss::deny, {none, none, none, none}},
  };
  for (const Row& row : rows) {
    // A request that was to be forwarded, and is refused after all, is given the fallback too.
    for (const std::optional<bool> annotate : {kUnset, std::optional(true), std::optional(false)}) {
      for (int i = 0; i < 4; ++i) {
        CAPTURE(int(row.mode));
        CAPTURE(i);
        CHECK(answer_for_refusal(rule_of(row.mode, row.miss, annotate), kAtHand[i]) == row.of[i]);
      }
    }
  }
}

TEST_CASE("only the upstream's answer costs something") {
  CHECK(costs_nothing(stored));
  CHECK(costs_nothing(fallback));
  CHECK_FALSE(costs_nothing(cheaper));
  CHECK_FALSE(costs_nothing(none));
}

}  // namespace spillway::overload
