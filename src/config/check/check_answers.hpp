// Checks `cache`, `fallback` and the rules that use them.
//
// A route's own rule needs the cache or fallback that it names. Rules of classes and stages apply
// to all routes and fall back to their `miss` on routes without one.
#pragma once

#include "config/check/findings.hpp"
#include "config/config.hpp"

namespace spillway::config {

// Also sets max_entry_bytes, where not given, to at most an eighth of max_bytes.
void check_answers(Config& config, Findings& findings);

}  // namespace spillway::config
