// How old a response is, and how long it may be used (RFC 9111 section 4.2, RFC 5861).
#pragma once

#include <chrono>

#include "base/time.hpp"
#include "config/config.hpp"
#include "http/cache_control.hpp"
#include "http/head.hpp"

namespace spillway::cache {

// All from 0 to 2^31 seconds: sums of them do not overflow.
struct Validity {
  Duration age{};             // when the response arrived (corrected_initial_age)
  Duration lifetime{};        // it is fresh while it is younger
  Duration stale_for{};       // after that it may be given stale, e.g. while it is revalidated
  Duration stale_on_error{};  // and in place of an upstream's failure
};

// Of a response that arrived at `arrived`, `delay` after its request was sent. For one that a 304
// renewed: its fields merged with the 304's (merge.hpp), and the 304's times.
//
// Age (4.2.3): by Date or by Age and the delay, whichever is more. A Date that is missing or
// cannot be read is `arrived`.
// Lifetime (4.2.1): s-maxage, else max-age, else Expires less Date (the earliest Expires; one
// that cannot be read: 0), else the configured ttl where guessing is allowed (may_guess_lifetime).
// Staleness: `stale-while-revalidate` or `stale-if-error`, else the configured one. None where the
// response forbids it (must-revalidate, proxy-revalidate, s-maxage); none in place of errors
// without stale_if_error. With no-cache all three are 0: never used without asking first.
Validity validity_of(const http::ResponseHead& response, const config::Cache& settings,
                     std::chrono::sys_seconds arrived, Duration delay);

// Whether a lifetime may be guessed for a response that says none (4.2.2): its status is cacheable
// by default (RFC 9110 section 15.1) or it is `public`; and it does not say `Pragma: no-cache`, as
// old servers do.
bool may_guess_lifetime(const http::ResponseHead& response, const http::CacheControl& control);

// Whether there is any use in storing it: it may be given without asking, or it has a validator by
// which to ask.
bool is_of_use(const Validity& validity, const http::ResponseHead& response);

}  // namespace spillway::cache
