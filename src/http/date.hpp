// HTTP-date (RFC 9110 section 5.6.7): "Sun, 06 Nov 1994 08:49:37 GMT", and the two obsolete forms.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string_view>

namespace spillway::http {

// All three forms, exactly as their grammar says but in any case (RFC 9111 section 4.2): nothing
// for any other text, a day that does not exist or a zone that is not GMT. That the weekday fits
// is not asked for. A leap second is the second before it. A year of two digits is the latest
// that brings the date no more than 50 years beyond `now`.
std::optional<std::chrono::sys_seconds> parse_date(std::string_view text,
                                                   std::chrono::sys_seconds now);

// The preferred form. Years 0 to 9999; what lies beyond is written as the nearest date within.
using DateText = std::array<char, 29>;
DateText date_text(std::chrono::sys_seconds time);

}  // namespace spillway::http
