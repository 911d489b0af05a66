// Whether an upstream has collapsed, found by trial: the limit goes back to where the most was
// served, and stays there only if as much is served again.
//
// A collapse in which more work brings less begins as a stall, a slow-down or a change to longer
// requests does: more requests are at work, and fewer succeed. What fewer at work bring tells them
// apart. So a cut is judged once the requests above it are gone, and taken back where it did not
// help: for as long as it is judged the upstream may serve less, and that seldom.
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
    keep,      // it was one: no way back to the former limit but by comparing
    give_back  // to former()
  };

  CollapseTrial();

  // Each tick.
  void observe(const LimitSample& sample);
  // Thereafter, unless another cut is being judged. `limit`: in force, `least`: that it may be.
  Act decide(const LimitSample& sample, std::uint32_t limit, double least, TimePoint now);

  // Requests at work at the best throughput.
  double at_best() const { return best_.at_work(); }
  double former() const { return former_; }
  // No trial before.
  void rest(TimePoint until);

 private:
  struct Trial {
    TimePoint fell;                     // when fewer were at work the last time
    double at_work = 0;                 // then
    double seconds = 0, succeeded = 0;  // since the requests above the limit are gone
  };

  Act judge(const LimitSample& sample, std::uint32_t limit, TimePoint now);

  BestThroughput best_;
  Duration collapsed_for_{0};
  std::optional<Trial> trial_;
  double former_ = 0;
  TimePoint rest_until_{};
  Duration rest_;  // after the next trial in vain
};

}  // namespace spillway::overload
