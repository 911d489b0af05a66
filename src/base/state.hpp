// How overloaded an upstream is. One enum for configuration, control, metrics and logs.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/ids.hpp"

namespace spillway {

// In order of severity. Without `stages` in the configuration only normal and overloaded are used.
enum class State : std::uint8_t { normal, elevated, overloaded, critical };

inline constexpr std::size_t kStateCount = 4;

constexpr std::string_view name(State state) {
  constexpr std::array<std::string_view, kStateCount> names{"NORMAL", "ELEVATED", "OVERLOADED",
                                                            "CRITICAL"};
  return names[index(state)];
}

}  // namespace spillway
