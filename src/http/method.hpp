// Properties of request methods.
#pragma once

#include "http/head.hpp"

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

}  // namespace spillway::http
