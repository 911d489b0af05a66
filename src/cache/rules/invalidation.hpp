// Which stored responses an unsafe request invalidates (RFC 9111 section 4.4).
#pragma once

#include <string_view>

#include "http/message/head.hpp"

namespace spillway::cache {

// Whether the response to a request with this method invalidates stored responses for its URI: if
// the method is unsafe or unknown, and the status is no error.
constexpr bool invalidates(http::Verb method, unsigned status) {
  switch (method) {
    case http::Verb::get:
    case http::Verb::head:
    case http::Verb::options:
    case http::Verb::trace: return false;
    default: return status >= 200 && status < 400;
  }
}

// The path and query, without fragment, of that response's Location or Content-Location, which are
// to be invalidated as well. Empty for another authority, a relative path, or a URI without a path;
// the RFC requires none of these.
std::string_view same_authority_target(std::string_view reference, std::string_view authority);

}  // namespace spillway::cache
