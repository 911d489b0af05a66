// Checks tenants.api_keys: whose key, given how, and that a tenant's keys agree about its tier.
#pragma once

#include "config/check/findings.hpp"
#include "config/config.hpp"

namespace spillway::config {

void check_tenants(const Config& config, Findings& findings);

}  // namespace spillway::config
