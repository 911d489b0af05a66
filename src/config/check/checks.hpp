// The checks between fields that validate() makes, each in the file of its name. They report to
// `findings`, and set what depends on another key where the file does not.
#pragma once

#include <string>

#include "config/check/findings.hpp"
#include "config/config.hpp"

namespace spillway::config {

// `cache`, `fallback` and the rules that use them. A route's own rule needs the cache or fallback
// that it names; rules of classes and stages apply to all routes and fall back to their `miss` on
// routes without one. Sets max_entry_bytes to at most an eighth of max_bytes.
void check_answers(Config& config, Findings& findings);

// `store`, `jobs` and the routes' `defer`.
void check_defer(const Config& config, Findings& findings);

// What a waiting room hands out; `path` is the room's.
void check_resources(const WaitingRoom& room, const std::string& path, Findings& findings);

// tenants.api_keys: whose key, given how, and that a tenant's keys agree about its tier.
void check_tenants(const Config& config, Findings& findings);

// trusted_tokens: that a token's key id says which key it is of.
void check_trusted_tokens(const Config& config, Findings& findings);

// An upstream's servers and the keys about their failures. Sets health_check.timeout_ms to at most
// interval_ms.
void check_upstreams(Config& config, Findings& findings);

// The routes' `waiting_room`.
void check_waiting_rooms(const Config& config, Findings& findings);

}  // namespace spillway::config
