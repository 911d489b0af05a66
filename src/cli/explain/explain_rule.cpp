// The overload rule of one request.
#include <algorithm>

#include "cli/explain/explain_sections.hpp"
#include "config/choices.hpp"
#include "config/defaults.hpp"
#include "overload/admission/decide.hpp"

namespace spillway {
namespace {

using config::Strategy;
using overload::Verdict;

bool refuses(const config::Rule& rule) {
  return rule.strategy == Strategy::deny || rule.strategy == Strategy::drop;
}

bool names(const std::vector<config::RuleOverride>& rules, ClassId traffic_class) {
  return std::any_of(rules.begin(), rules.end(), [&](const config::RuleOverride& one) {
    return one.traffic_class == traffic_class;
  });
}

void tell_where_it_comes_from(std::ostream& line, const RuledRequest& request) {
  const auto& stages = request.upstream().overload.stages;
  const bool is_staged = std::any_of(stages.begin(), stages.end(), [&](const auto& stage) {
    return stage.name <= request.state && names(stage.rules, request.classification.traffic_class);
  });
  line << " (the class's rule";
  if (is_staged) line << " as the stages up to " << name(request.state) << " change it";
  if (request.state != State::elevated &&
      names(request.route().rules, request.classification.traffic_class)) {
    line << (is_staged ? ", and the route" : " as the route changes it");
  }
  line << ")";
}

void tell_own_fault(ExplainedLines& lines, const RuledRequest& request) {
  if (request.rule.budget) {
    lines.add("budget") << (request.rule.strategy == Strategy::degrade ? "What asks the upstream"
                                                                       : "Whatever the rule lets "
                                                                         "through")
                        << " takes a token; without one: 429 BUDGET_EXCEEDED.";
    if (request.upstream().overload.regulate && request.rule.budget->rate > 0)
      lines.add("") << "For want of room only while more is offered than the upstream can do.";
  }
  const bool is_refused = refuses(request.rule);
  if (request.config.tenants.fairness && (is_refused || request.state != State::elevated)) {
    lines.add("fairness") << "If its tenant asks for more than its fair share of the class, that "
                          << "part goes first" << (is_refused ? "" : " when there is no room")
                          << ": 429 TENANT_SHARE.";
    if (request.rule.strategy == Strategy::degrade)
      lines.add("") << "What can be answered without the upstream is never refused for it.";
  }
}

void tell_why_refused(ExplainedLines& lines, const RuledRequest& request) {
  const config::Rule& rule = request.rule;
  if (request.upstream().overload.regulate) {
    lines.add("why") << "Refused is only as much as helps, the lowest class first: at most "
                     << rule.probability * 100 << " % of this one,";
    lines.add("") << "which is its rule's probability.";
    return;
  }
  if (rule.probability >= 1) {
    lines.add("why") << "The rule refuses every request: its probability is 1.";
    return;
  }
  lines.add("why") << "One number is drawn from [0, 1) for each request: below " << rule.probability
                   << " the rule refuses (" << rule.probability * 100 << " % of them),";
  lines.add("") << "otherwise the request is allowed as in NORMAL.";
}

// Evaluated with a draw of 0, which refuses if the rule ever refuses.
void tell_chance(ExplainedLines& lines, const RuledRequest& request) {
  const config::Rule& rule = request.rule;
  const Refusals refusals{overload::judge(rule, request.state, Reason::error_burst, 0),
                          overload::judge(rule, request.state, Reason::inflight_saturation, 0)};
  if (refusals.untrusted.kind == Verdict::Kind::allow) {
    lines.add("verdict") << name(Verdict::Kind::allow);
    lines.add("why") << (rule.probability == 0 ? "The rule's probability is 0: it never refuses."
                                               : "The rule lets this class pass in this state.");
    tell_hard_limits(lines, request);
    return;
  }
  tell_refusals(lines, request, refusals);
  tell_why_refused(lines, request);
  tell_work_conserving(lines, request, refusals);
}

}  // namespace

void tell_rule(ExplainedLines& lines, const RuledRequest& request) {
  const config::Rule& rule = request.rule;
  auto& line = lines.add("rule");
  line << config::name(rule.strategy);
  if (refuses(rule)) {
    line << ", probability " << rule.probability << ", retry after " << rule.retry_after.count()
         << " ms";
  }
  if (rule.strategy == Strategy::degrade) {
    line << ", mode " << config::name(rule.mode) << ", on a miss "
         << config::name(config::miss_of(rule));
    if (rule.annotate) line << ", annotate " << (*rule.annotate ? "true" : "false");
  }
  if (rule.budget)
    line << ", budget " << rule.budget->rate << " a second, " << rule.budget->burst << " at once";
  tell_where_it_comes_from(line, request);
}

namespace {

void tell_order(ExplainedLines& lines, const RuledRequest& request) {
  const config::Dispatch& dispatch = request.upstream().dispatch;
  if (dispatch.deadline_aware && request.classification.response_deadline(Duration{0}) != kNever)
    lines.add("") << "The time that its route usually takes counts too: its answer has a deadline.";
  const bool is_highest =
      index(request.classification.traffic_class) == 0 && request.config.classes.size() > 1;
  if (dispatch.overload_order == config::OverloadOrder::lifo && !is_highest)
    lines.add("") << "While overloaded the newest waiter of its class goes first.";
  if (dispatch.overload_order == config::OverloadOrder::adaptive)
    lines.add("")
        << "The newest waiter of its class goes first while overloaded, once clients leave.";
}

}  // namespace

void tell_hard_limits(ExplainedLines& lines, const RuledRequest& request) {
  const config::TrafficClass& its_class = request.traffic_class();
  const auto max_wait = its_class.max_wait.count();
  if (request.upstream().dispatch.late == config::Late::process_with_tag) {
    lines.add("") << "It takes a free slot or waits for one, tagged as late after " << max_wait
                  << " ms or its deadline.";
    lines.add("") << "It is refused only when its queue (" << its_class.max_queue
                  << " places) is full and no lower class gives up a place.";
    return;
  }
  lines.add("") << "It takes a free slot, or waits up to " << max_wait
                << " ms or its deadline for one. It is refused when its queue";
  lines.add("") << "(" << its_class.max_queue << " places) is full and no lower class gives up a "
                << "place, or when its class has a waiter already";
  lines.add("") << "and the predicted wait is longer than that.";
  if (its_class.stretches)
    lines.add("") << "Where few slots are held for more than " << config::kUsualHold.count()
                  << " ms in quiet, it waits for longer in proportion.";
  tell_order(lines, request);
}

void tell_overloaded(ExplainedLines& lines, const RuledRequest& request) {
  if (request.rule.strategy == Strategy::degrade) {
    tell_degraded(lines, request);
  } else {
    tell_chance(lines, request);
  }
  tell_own_fault(lines, request);
}

}  // namespace spillway
