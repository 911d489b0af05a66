// Prefer (RFC 7240): whether a client prefers to be answered later, and how long it waits for the
// answer itself.
#pragma once

#include <chrono>
#include <optional>

#include "http/field/field_list.hpp"

namespace spillway::jobs {

struct Preference {
  bool respond_async = false;
  std::optional<std::chrono::seconds> wait;  // from receipt; at most an hour
};

// For all Prefer fields together; if a preference is given twice, the first counts. Other
// preferences, and malformed ones, are ignored, as the RFC requires.
Preference parse_prefer(const http::FieldList& fields);

}  // namespace spillway::jobs
