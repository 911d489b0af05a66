// What the cache did for a response, told in its Cache-Status field (RFC 9211).
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
    bypass,     // the cache is not asked at present
    method,     // answers to this method are not stored
    uri_miss,   // nothing is stored for the URI
    vary_miss,  // something is, but not for what the request's fields select
    stale,      // what is stored is no longer fresh
    request,    // it is, but the request does not want it
  };

  bool has_cache = false;           // no field otherwise
  bool hit = false;                 // answered with what was stored
  std::optional<std::int64_t> ttl;  // seconds of freshness left; negative: it is stale
  Forward forward = Forward::none;
  unsigned forward_status = 0;  // the upstream's, where it is not the client's; 0: left out
  bool stored = false;          // what the upstream answers is being stored
  bool collapsed = false;       // another request fetched the answer
  std::string_view detail;      // a token
};

// "Cache-Status: spillway; hit; ttl=-3", with its line end.
void write_cache_status(TextWriter& out, const CacheStatus& status);

}  // namespace spillway::http
