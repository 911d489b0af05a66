// The phase of a process between its start and its end, as its pages report it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ids.hpp"

namespace spillway::observe {

enum class Phase : std::uint8_t {
  serving,
  drain_delay,  // asked to end: not ready, but all else goes on (limits.drain_delay_ms)
  draining,     // accepts nothing new and finishes running requests
};

inline constexpr std::size_t kPhaseCount = 3;

constexpr std::string_view name(Phase phase) {
  constexpr std::array<std::string_view, kPhaseCount> names{"serving", "drain_delay", "draining"};
  return names[index(phase)];
}

}  // namespace spillway::observe
