// Properties of request methods.
#pragma once

#include <string_view>

#include "http/message/head.hpp"

namespace spillway::http {

// RFC 9110 section 9.2.2. Unknown methods count as not idempotent.
constexpr bool is_idempotent(Verb method) {
  switch (method) {
    case Verb::get:
    case Verb::head:
    case Verb::put:
    case Verb::delete_:
    case Verb::options: return true;
    default: return false;
  }
}

// Whether the name is not a standard method but becomes one in upper case. Methods are
// case-sensitive (RFC 9110 section 9.1), yet some backends take it for that method.
bool is_disguised(Verb method, std::string_view name);

}  // namespace spillway::http
