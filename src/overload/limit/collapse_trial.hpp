// A trial that shows whether an upstream has collapsed: the limit returns to that of the best
// throughput, and stays there only if the throughput recovers.
//
// A collapse, in which more work brings less throughput, begins like a stall, a slow-down or a
// change to longer requests: more requests are at work, and fewer succeed. The throughput with
// fewer at work distinguishes them. So a cut is judged once the requests above it have ended, and
// taken back if it did not help: the upstream may serve less while it is judged, but that is rare.
//
// Pure; a part of PairedDither, stepped by the control tick.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "overload/limit/best_throughput.hpp"
#include "overload/limit/concurrency_limit.hpp"

namespace spillway::overload {

class CollapseTrial {
 public:
  enum class Act : std::uint8_t {
    none,
    cut,       // to at_best()
    wait,      // for the verdict: the limit stays
    keep,      // the cut helped: the former limit is reached again only by comparing
    give_back  // to former()
  };

  CollapseTrial();

  // Call each tick.
  void observe(const LimitSample& sample);
  // Call after observe(), unless another cut is being judged. `limit`: in force; `least`: at least.
  Act decide(const LimitSample& sample, std::uint32_t limit, double least, TimePoint now);

  // Requests at work at the best throughput.
  double at_best() const { return best_.at_work(); }
  double former() const { return former_; }
  // No trial before `until`.
  void rest(TimePoint until);

 private:
  struct Trial {
    TimePoint fell;                     // when the number at work fell last
    double at_work = 0;                 // at that time
    double seconds = 0, succeeded = 0;  // since the requests above the limit have ended
  };

  Act judge(const LimitSample& sample, std::uint32_t limit, TimePoint now);

  BestThroughput best_;
  Duration collapsed_for_{0};
  std::optional<Trial> trial_;
  double former_ = 0;
  TimePoint rest_until_{};
  Duration rest_;  // after the next trial that does not help
};

}  // namespace spillway::overload
