// The rules of HTTP caching: RFC 9111, and what of RFC 9110, 5861, 9211 and 9213 touches it.
#pragma once

#include <vector>

#include "system/wire/caching/response.hpp"

namespace spillway::wire::caching {

std::vector<Case> storing_cases();       // which responses are kept
std::vector<Case> stored_field_cases();  // what of them, and under which key
std::vector<Case> person_cases();        // whose answer it is: Authorization, cookies
std::vector<Case> freshness_cases();     // for how long
std::vector<Case> age_cases();           // how old it is
std::vector<Case> vary_cases();          // for which requests
std::vector<Case> validation_cases();    // asking the origin whether it still holds
std::vector<Case> condition_cases();     // a client's own conditions, HEAD, ranges
std::vector<Case> invalidation_cases();  // what writes undo
std::vector<Case> request_cases();       // what a client may ask of a cache
std::vector<Case> stale_cases();         // when old is better than nothing
std::vector<Case> status_field_cases();  // what a cache says it did

std::vector<Case> caching_cases();

}  // namespace spillway::wire::caching
