// Cacheability of a response by its status (RFC 9110 section 15.1, RFC 9111 section 3).
#pragma once

namespace spillway::cache {

// Heuristically cacheable. By the RFC so is 206, but partial content is not stored.
constexpr bool is_cacheable_by_default(unsigned status) {
  switch (status) {
    case 200:
    case 203:
    case 204:
    case 300:
    case 301:
    case 308:
    case 404:
    case 405:
    case 410:
    case 414:
    case 501: return true;
    default: return false;
  }
}

// Whether this cache conforms to the status's caching requirements (must-understand, RFC 9111
// section 5.2.2.3).
constexpr bool is_understood(unsigned status) {
  return is_cacheable_by_default(status) || status == 302 || status == 303 || status == 307;
}

// Never stored, whatever the response's directives: interim responses, partial content, 304.
constexpr bool is_never_stored(unsigned status) {
  return status < 200 || status == 206 || status == 304 || status > 599;
}

// A failure of the upstream: stored only with an explicit lifetime, and used no longer than that,
// since a stored response is meant to replace failures.
constexpr bool is_failure(unsigned status) { return status >= 500 && status != 501; }

}  // namespace spillway::cache
