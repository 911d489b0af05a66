// HTTP-date (RFC 9110 section 5.6.7): "Sun, 06 Nov 1994 08:49:37 GMT", and the two obsolete forms.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string_view>

namespace spillway::http {

// All three forms, exactly as in the grammar but case-insensitive (RFC 9111 section 4.2); nullopt
// for any other text, a date that does not exist or a zone other than GMT. The weekday is not
// verified. A leap second counts as the second before it. A two-digit year is the latest one that
// puts the date at most 50 years after `now`.
std::optional<std::chrono::sys_seconds> parse_date(std::string_view text,
                                                   std::chrono::sys_seconds now);

// The preferred form. Years 0 to 9999; dates beyond are clamped.
using DateText = std::array<char, 29>;
DateText date_text(std::chrono::sys_seconds time);

}  // namespace spillway::http
