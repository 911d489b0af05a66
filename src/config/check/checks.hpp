// The checks between fields that validate() makes, each in the source file of its name. They report
// to `findings`, and set values that depend on another key if the file does not give them.
#pragma once

#include <string>

#include "config/check/findings.hpp"
#include "config/config.hpp"

namespace spillway::config {

// `cache`, `fallback` and the rules that use them. A route's own rule needs the cache or fallback
// that it names; rules of classes and stages apply to all routes and fall back to their `miss` on
// routes without one. Limits max_entry_bytes to an eighth of max_bytes.
void check_answers(Config& config, Findings& findings);

// `store`, `jobs` and the routes' `defer`.
void check_defer(const Config& config, Findings& findings);

// The resources that a waiting room hands out; `path` is the path of the room.
void check_resources(const WaitingRoom& room, const std::string& path, Findings& findings);

// tenants.api_keys: each key has a tenant and a value, and a tenant's keys agree about its tier.
void check_tenants(const Config& config, Findings& findings);

// trusted_tokens: each key id identifies exactly one key.
void check_trusted_tokens(const Config& config, Findings& findings);

// An upstream's servers and the keys about their failures. Limits health_check.timeout_ms to
// interval_ms.
void check_upstreams(Config& config, Findings& findings);

// The routes' `waiting_room`.
void check_waiting_rooms(const Config& config, Findings& findings);

}  // namespace spillway::config
