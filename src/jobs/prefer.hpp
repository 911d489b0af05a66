// Prefer (RFC 7240): whether a client would rather be answered later, and how long it waits for the
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

// Of all Prefer fields together; of a preference that is given twice the first counts. Other
// preferences, and what cannot be read, are ignored, as the RFC wants.
Preference parse_prefer(const http::FieldList& fields);

}  // namespace spillway::jobs
