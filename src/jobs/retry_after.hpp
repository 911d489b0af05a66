// Retry-After (RFC 9110 section 10.2.3) in the response to a job.
#pragma once

#include <chrono>
#include <optional>

#include "http/field/field_list.hpp"

namespace spillway::jobs {

// From `now`, at most a day; a past date gives 0. nullopt: there is none, or it is malformed.
std::optional<std::chrono::milliseconds> parse_retry_after(
    const http::FieldList& fields, std::chrono::system_clock::time_point now);

}  // namespace spillway::jobs
