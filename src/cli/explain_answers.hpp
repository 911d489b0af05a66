// What a route's stored and prepared answers mean for one request, in words.
#pragma once

#include "cli/explain_rule.hpp"

namespace spillway {

// The route's cache and what this request may get of it, in any state; nothing without a cache.
void tell_cache(ExplainedLines& lines, const RuledRequest& request);

// Verdict and reasons of a rule that degrades.
void tell_degraded(ExplainedLines& lines, const RuledRequest& request);

}  // namespace spillway
