// What came of an attempt to put a new configuration into effect.
#pragma once

#include <cstdint>
#include <functional>

#include "config/problem.hpp"

namespace spillway::proxy {

struct ReloadResult {
  std::uint64_t generation = 0;  // in effect now, whatever came of it
  config::Problems problems;     // why it is the old one; empty: it is the new one
};

// Called with the result, on the reloader's thread.
using ReloadDone = std::function<void(const ReloadResult&)>;

}  // namespace spillway::proxy
