// Conditional requests (RFC 9110 section 13), as a cache evaluates them.
#pragma once

#include <chrono>
#include <string_view>

#include "http/field/field_list.hpp"

namespace spillway::http {

// A response's validators, as field values; empty if it has no such field.
struct Validators {
  std::string_view etag;
  std::string_view last_modified;
  std::string_view date;  // for If-Modified-Since where there is no Last-Modified
};

// Whether a GET or HEAD request gets 304 (Not Modified) instead of a 2xx response with these
// validators; conditions do not apply to other statuses (section 13.2.1).
//
// If-None-Match: `*`, a list with one tag that is equal by weak comparison (section 13.1.2), or the
// exact text of the ETag, even an invalid one; If-Modified-Since is then ignored. Otherwise
// If-Modified-Since (13.1.3): the response is not younger. Malformed values match nothing: the
// client then gets the whole response. `now` is used for two-digit years.
bool not_modified(const FieldList& request, const Validators& response,
                  std::chrono::sys_seconds now);

// Whether the request asks for a part of the content (Range, If-Range), or may be carried out only
// in a certain state of the resource (If-Match, If-Unmodified-Since): only the origin answers it.
bool has_range_or_precondition(const FieldList& request);

}  // namespace spillway::http
