// The p95 of an upstream at low load, the baseline for its current p95.
//
// Learned from requests that are answered while few slots are in use and the state is NORMAL, over
// the last ten such minutes. To keep the beginning of an overload out, samples are added five to
// ten seconds later, and only if both conditions still hold. Busy hours or a lack of requests do
// not erase it. Only after ten minutes of an overloaded state in which no request waits is it
// discarded and learned again: the upstream is then slower than it was, not overloaded.
//
// Pure; one for each upstream, fed by the control tick.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "overload/signals/histogram.hpp"

namespace spillway::overload {

class QuietBaseline {
 public:
  QuietBaseline() : minutes_(9) {}

  struct Times {
    bool low_load = false;  // few slots were in use
    bool normal = false;    // the state
    bool calm = false;      // slots were free, and no request waited
  };
  // The samples of one slice of time.
  void add(const BucketCounts& slice, Duration span, const Times& times);

  // In the unit of the samples; nullopt (not known) with fewer than 200 of them.
  std::optional<Duration> quantile(double q) const;

 private:
  void take_in();

  SlidingHistogram minutes_;          // complete ones
  BucketCounts minute_{};             // the current one
  std::uint32_t parts_ = 0;           // complete parts of the current minute
  BucketCounts fresh_{}, waiting_{};  // not added yet: at most five seconds, and those before
  Duration collected_{0};             // in fresh_
  Duration contradicted_{0};
};

}  // namespace spillway::overload
