// Which stored answers a request that changes something ends (RFC 9111 section 4.4).
#pragma once

#include <string_view>

#include "http/head.hpp"

namespace spillway::cache {

// Whether the answer to a request with this method ends what is stored for its URI: an unsafe or
// unknown method, and no error.
constexpr bool invalidates(http::Verb method, unsigned status) {
  switch (method) {
    case http::Verb::get:
    case http::Verb::head:
    case http::Verb::options:
    case http::Verb::trace: return false;
    default: return status >= 200 && status < 400;
  }
}

// Of a Location or Content-Location of that answer: the path and query that it names on the
// request's authority, without a fragment, to be ended as well. Empty when it names another
// authority, or names it by a relative path or by a URI without a path (the RFC asks for none of
// them).
std::string_view same_authority_target(std::string_view reference, std::string_view authority);

}  // namespace spillway::cache
