// The request fields by which a client authenticates itself. Their values are secrets.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "http/field/ascii.hpp"

namespace spillway::http {

inline constexpr std::array<std::string_view, 4> kCredentials{
    "Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key"};

inline bool is_credential(std::string_view field_name) {
  return std::any_of(kCredentials.begin(), kCredentials.end(),
                     [&](std::string_view name) { return iequals(field_name, name); });
}

}  // namespace spillway::http
