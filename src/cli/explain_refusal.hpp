// How a refusal depends on why the upstream is overloaded, in words.
#pragma once

#include "cli/explain_rule.hpp"
#include "overload/decide.hpp"

namespace spillway {

// One request's verdicts, of which the first refuses.
struct Refusals {
  overload::Verdict untrusted;  // when the upstream itself is not to be trusted
  overload::Verdict full;       // for lack of room
};

// The verdict: a line for each kind of reason.
void tell_refusals(ExplainedLines& lines, const RuledRequest& request, const Refusals& refusals);

// What becomes of free slots.
void tell_work_conserving(ExplainedLines& lines, const RuledRequest& request,
                          const Refusals& refusals);

// "503, retry after 1000 to 1500 ms"
std::string refusal_text(const config::Rule& rule, const overload::Verdict& verdict);

}  // namespace spillway
