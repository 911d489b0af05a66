// Explains refusals by the reason of the overload.
#pragma once

#include "cli/explain/explain_rule.hpp"
#include "overload/admission/decide.hpp"

namespace spillway {

// One request's verdicts by kind of reason; the first refuses.
struct Refusals {
  overload::Verdict untrusted;  // the upstream itself is slow or failing
  overload::Verdict full;       // slots or queues are full
};

// The verdict, a line for each kind of reason.
void tell_refusals(ExplainedLines& lines, const RuledRequest& request, const Refusals& refusals);

// How the rule treats free slots.
void tell_work_conserving(ExplainedLines& lines, const RuledRequest& request,
                          const Refusals& refusals);

// "503, retry after 1000 to 1500 ms or later, by turn"
std::string refusal_text(const config::Rule& rule, const overload::Verdict& verdict);

}  // namespace spillway
