// Fields by which front-end proxies tell a backend which URL, host, scheme or method was asked for,
// besides X-Forwarded-*: identity.hpp says from whom they are believed.
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
