// What a cache makes of a response's status (RFC 9110 section 15.1, RFC 9111 section 3).
#pragma once

namespace spillway::cache {

// Cacheable where nothing says otherwise. 206 is too by the RFC, but parts are not stored.
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

// Whether what the RFC says on caching a response of this status is kept here, as
// must-understand asks for.
constexpr bool is_understood(unsigned status) {
  return is_cacheable_by_default(status) || status == 302 || status == 303 || status == 307;
}

// Never stored, whatever the response says: interim ones, parts, answers to conditions, and
// failures of the upstream, in whose place something stored is wanted.
constexpr bool is_never_stored(unsigned status) {
  return status < 200 || status == 206 || status == 304 || status > 599 ||
         (status >= 500 && status != 501);
}

}  // namespace spillway::cache
