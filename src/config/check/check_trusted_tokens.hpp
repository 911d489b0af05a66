// Checks trusted_tokens: that a token's key id says which key it is of.
#pragma once

#include "config/check/findings.hpp"
#include "config/config.hpp"

namespace spillway::config {

void check_trusted_tokens(const Config& config, Findings& findings);

}  // namespace spillway::config
