// Age, freshness lifetime and permitted staleness of a response (RFC 9111 section 4.2, RFC 5861).
#pragma once

#include <chrono>

#include "base/time.hpp"
#include "cache/rules/control.hpp"
#include "config/config.hpp"
#include "http/message/head.hpp"

namespace spillway::cache {

// Each is 0 to 2^31 seconds, so that sums do not overflow.
struct Validity {
  Duration age{};             // on arrival (corrected_initial_age)
  Duration lifetime{};        // fresh while younger than this
  Duration stale_for{};       // after that: may be served stale (stale-while-revalidate, overload)
  Duration stale_on_error{};  // after that: may replace a failure of the upstream (stale-if-error)
};

// The validity of a response that arrived at `arrived`, `delay` after its request was sent. After a
// 304: of the merged fields (merge.hpp), with the times of the 304.
//
// Age (4.2.3): from Date, or from Age plus the delay, whichever is larger. A missing or invalid
// Date counts as `arrived`.
// Lifetime (4.2.1): s-maxage, else max-age, else Expires minus Date (the earliest Expires; 0 for an
// invalid one), else the configured ttl where heuristic freshness is allowed, or the configured
// share of the time since Last-Modified if that is more. Directives: control.hpp. Staleness:
// `stale-while-revalidate` or `stale-if-error`, else the configured one. None where the response
// forbids it (must-revalidate, proxy-revalidate, s-maxage) or is itself a failure (status.hpp);
// none on errors without stale_if_error. With no-cache all three are 0: never reused without
// validation.
Validity validity_of(const http::ResponseHead& response, const config::Cache& settings,
                     std::chrono::sys_seconds arrived, Duration delay);

// Whether a response without an explicit lifetime may get a heuristic one (4.2.2): its status is
// heuristically cacheable (RFC 9110 section 15.1) or it is `public`, and it has no
// `Pragma: no-cache`, which old servers send.
bool allows_heuristic_freshness(const http::ResponseHead& response, const ResponseControl& control);

// Whether a stored copy could ever be reused: within its lifetime or staleness, or by revalidation.
bool is_reusable(const Validity& validity, const http::ResponseHead& response);

}  // namespace spillway::cache
