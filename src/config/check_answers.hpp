// What must hold of stored and prepared answers, and of the rules that speak of them.
//
// Whatever a route's own rule asks for must be there: a cache, a fallback. The rules of classes and
// stages are for all routes, and take their `miss` where a route has nothing to answer with.
#pragma once

#include "config/config.hpp"
#include "config/findings.hpp"

namespace spillway::config {

// Also bounds an entry of a cache to an eighth of it where the file does not say how long it may
// be.
void check_answers(Config& config, Findings& findings);

}  // namespace spillway::config
