// Explains a route's cache and fallback for one request.
#pragma once

#include "cli/explain/explain_rule.hpp"

namespace spillway {

// What the route's cache may answer to this request, in any state; nothing without a cache.
void tell_cache(ExplainedLines& lines, const RuledRequest& request);

// What goes before a refusal: nothing unless `degrading` (AdmissionPlan::degrading) is a rule.
void tell_instead_of_refusal(ExplainedLines& lines, const RuledRequest& request,
                             const config::Rule* degrading);

// Verdict and reasons of a degrade rule.
void tell_degraded(ExplainedLines& lines, const RuledRequest& request);

}  // namespace spillway
