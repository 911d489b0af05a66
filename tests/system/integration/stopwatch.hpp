// How long something took on the wire.
#pragma once

#include <chrono>

#include "support/event.hpp"

namespace spillway::support {

class Stopwatch {
 public:
  Milliseconds elapsed() const {
    return std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - began_);
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace spillway::support
