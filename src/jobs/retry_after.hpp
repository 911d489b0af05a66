// Retry-After (RFC 9110 section 10.2.3) of an answer to a job.
#pragma once

#include <chrono>
#include <optional>

#include "http/field/field_list.hpp"

namespace spillway::jobs {

// From `now`, at most a day; a date that has passed is 0. nullopt: there is none that can be read.
std::optional<std::chrono::milliseconds> parse_retry_after(
    const http::FieldList& fields, std::chrono::system_clock::time_point now);

}  // namespace spillway::jobs
