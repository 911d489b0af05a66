// The configurations that the proxy runs with during a soak: two that differ, and one that is
// wrong.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace spillway::soak {

// Ports of the backends behind the upstreams.
struct Servers {
  std::uint16_t calm = 0;    // always well
  std::uint16_t busy = 0;    // slow at times
  std::uint16_t first = 0;   // of a pair
  std::uint16_t second = 0;  // of it, dead at times
  std::uint16_t faulty = 0;
};

// How they differ is of no consequence to clients that behave.
enum class Variant { first, second, wrong };

std::string settings(const Servers& servers, Variant variant);

}  // namespace spillway::soak
