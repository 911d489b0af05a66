// The result of a reload.
#pragma once

#include <cstdint>
#include <functional>

#include "config/problem.hpp"

namespace spillway::proxy {

struct ReloadResult {
  std::uint64_t generation = 0;  // in effect now
  config::Problems problems;     // empty: success; otherwise the configuration is unchanged
};

// Called with the result, on the reloader's thread.
using ReloadDone = std::function<void(const ReloadResult&)>;

}  // namespace spillway::proxy
