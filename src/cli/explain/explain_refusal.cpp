// How a request would be refused.
#include <string>

#include "cli/explain/explain_sections.hpp"

namespace spillway {

using overload::Verdict;

std::string refusal_text(const config::Rule& rule, const Verdict& verdict) {
  if (verdict.kind == Verdict::Kind::drop || verdict.refuse_silently) {
    return "closed without an answer";
  }
  const auto wait = rule.retry_after.count();
  return "503, retry after " + std::to_string(wait) + " to " + std::to_string(wait + wait / 2) +
         " ms or later, by turn";
}

void tell_refusals(ExplainedLines& lines, const RuledRequest& request, const Refusals& refusals) {
  const config::Rule& rule = request.rule;
  const bool has_draw = rule.strategy != config::Strategy::degrade && rule.probability < 1;
  lines.add("verdict") << "depends on " << (has_draw ? "the draw and on " : "")
                       << "the reason of the overload:";
  const bool regulates = request.upstream().overload.regulate;
  const bool is_only_class = regulates && request.config.classes.size() == 1;
  lines.add("") << (regulates ? "" : "TAIL_LATENCY, ") << "EVENT_LOOP_LAG"
                << (is_only_class ? "" : ", ERROR_BURST") << ": " << name(refusals.untrusted.kind)
                << " (" << refusal_text(rule, refusals.untrusted) << ")";
  if (is_only_class)
    lines.add("") << "ERROR_BURST: " << name(Verdict::Kind::allow) << ", as no other class gains";
  lines.add("") << (regulates ? "TAIL_LATENCY, " : "")
                << "INFLIGHT_SATURATION, QUEUE_SATURATION, QUEUE_WAIT_RISK: "
                << name(refusals.full.kind);
}

void tell_work_conserving(ExplainedLines& lines, const RuledRequest& request,
                          const Refusals& refusals) {
  const bool regulates = request.upstream().overload.regulate;
  lines.add("") << "For the first reasons free slots change nothing: the upstream fails, or "
                << "Spillway's own loop is late.";
  lines.add("") << "For the others no slot is left idle: refused ("
                << refusal_text(request.rule, refusals.full) << ") only when no slot";
  auto& line =
      lines.add("") << "is free, its class has a waiter already and the predicted wait passes "
                    << request.upstream().dispatch.target_wait.count()
                    << (regulates ? " ms, which adapts" : " ms");
  if (!regulates || index(request.classification.traffic_class) == 0) {
    line << '.';
    return;
  }
  line << ';';
  lines.add("") << "or, for a share that follows the load, while a higher class waits for a slot.";
}

}  // namespace spillway
