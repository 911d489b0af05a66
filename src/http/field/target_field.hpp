// Fields besides X-Forwarded-* in which front-end proxies pass the original URL, host, scheme or
// method to a backend; identity.hpp says which peers they are believed from.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "http/field/ascii.hpp"

namespace spillway::http {

constexpr bool is_target_field(std::string_view name) {
  constexpr std::array<std::string_view, 11> kNames{
      "X-Original-URL",  "X-Original-Uri",        "X-Rewrite-URL",    "X-Host",
      "X-Original-Host", "X-HTTP-Host-Override",  "X-Scheme",         "X-Url-Scheme",
      "Front-End-Https", "X-Envoy-Original-Path", "X-Original-Method"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view one) { return iequals(one, name); });
}

}  // namespace spillway::http
