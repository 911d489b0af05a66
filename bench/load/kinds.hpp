// The three kinds of request that a load is made of: one of each class of the default
// configuration, in the mix 10 : 30 : 60 of a shop at its peak.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace spillway::load {

struct Kind {
  std::string_view traffic_class;
  std::string_view method;
  std::string_view path;
  std::string_view fields;  // more of them, each with CRLF
  std::string_view body;
  bool read;     // may ask for a page, see pages.hpp
  double share;  // of all arrivals; the shares add up to 1
};

inline constexpr std::size_t kKindCount = 3;

inline constexpr std::array<Kind, kKindCount> kKinds{{
    {"P0", "POST", "/checkout", "", R"({"cart":"c-1042","items":3})", false, 0.1},
    {"P1", "GET", "/search", "", "", true, 0.3},
    {"P2", "GET", "/export", "Prefer: respond-async\r\n", "", true, 0.6},
}};

}  // namespace spillway::load
