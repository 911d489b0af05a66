// The p95 of an upstream at low load, with which its present p95 is compared.
//
// Learned from requests answered while few slots are in use and the state is NORMAL, over the last
// ten such minutes. The beginning of an overload is not learned: samples are taken in five to ten
// seconds later, if both still hold. It is not forgotten in busy hours or without
// requests. Only if the upstream is in an overloaded state for ten minutes while no request waits,
// it is given up and learned anew: the upstream then is slower than it was, not overloaded.
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

  // As the samples were given; nullopt with fewer than 200 of them: not known.
  std::optional<Duration> quantile(double q) const;

 private:
  void take_in();

  SlidingHistogram minutes_;          // complete ones
  BucketCounts minute_{};             // the present one
  std::uint32_t parts_ = 0;           // of the present minute, complete
  BucketCounts fresh_{}, waiting_{};  // not taken in: at most five seconds, and those before
  Duration collected_{0};             // in fresh_
  Duration contradicted_{0};
};

}  // namespace spillway::overload
