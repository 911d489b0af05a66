// What a request's method promises.
#pragma once

#include "http/head.hpp"

namespace spillway::http {

// Sent twice it does no more than sent once (RFC 9110 section 9.2.2). Of methods that we do not
// know nothing is known.
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
