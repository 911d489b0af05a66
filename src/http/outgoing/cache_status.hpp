// The Cache-Status field: how the cache handled a request (RFC 9211).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text_writer.hpp"

namespace spillway::http {

struct CacheStatus {
  // Why the request went on to the upstream (RFC 9211 section 2.2).
  enum class Forward : std::uint8_t {
    none,       // it did not
    bypass,     // the cache is not in use at present
    method,     // responses to this method are not stored
    uri_miss,   // nothing is stored for the URI
    vary_miss,  // a response is stored, but not for the request's field values
    stale,      // the stored response is stale
    request,    // the stored response is fresh, but the request's Cache-Control excludes it
  };

  bool has_cache = false;           // no field otherwise
  bool hit = false;                 // served from the cache
  std::optional<std::int64_t> ttl;  // seconds of freshness left; negative: it is stale
  Forward forward = Forward::none;
  unsigned forward_status = 0;  // the upstream's status, if the client gets another; 0: left out
  bool stored = false;          // the upstream's response is being stored
  bool collapsed = false;       // another request fetched the response (single flight)
  std::string_view detail;      // a token (RFC 9110 section 5.6.2)
};

// "Cache-Status: spillway; hit; ttl=-3", with its line end.
void write_cache_status(TextWriter& out, const CacheStatus& status);

}  // namespace spillway::http
