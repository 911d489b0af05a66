// The natural logarithm of a time in seconds, of a microsecond at least: latencies are averaged in
// it, as they are about log-normal. Computed once per answer, for all that learn from it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/time.hpp"

namespace spillway::dispatch {

class LogTime {
 public:
  template <class Rep, class Period>
  LogTime(std::chrono::duration<Rep, Period> time)
      : log_(std::log(std::max(to_seconds(time), 1e-6))) {}

  operator double() const { return log_; }

 private:
  double log_;
};

}  // namespace spillway::dispatch
