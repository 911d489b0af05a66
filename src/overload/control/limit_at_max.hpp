// Whether a limit that is found (`"concurrency": "auto"`) is at its upper bound while more is
// offered than it admits: the upstream could perhaps do more, but the excess is refused. For the
// operator, with hysteresis. Pure; stepped by the control tick.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/time.hpp"
#include "overload/limit/concurrency_limit.hpp"

namespace spillway::overload {

class LimitAtMax {
 public:
  enum class Change : std::uint8_t { none, began, ended };

  explicit LimitAtMax(std::uint32_t max) : max_(max) {}

  // The bound is the new one: with a higher one the condition ends after a while.
  void continue_from(const LimitAtMax& former) {
    share_ = former.share_;
    is_on_ = former.is_on_;
  }

  // `limit` was in force during the sample.
  Change step(std::uint32_t limit, const LimitSample& sample) {
    const double binds = sample.is_short && limit >= max_ ? 1 : 0;
    share_ += (binds - share_) * (1 - std::exp(-to_seconds(sample.span) / kMemory));
    if (is_on_ ? share_ > kExit : share_ < kEnter) return Change::none;
    is_on_ = !is_on_;
    return is_on_ ? Change::began : Change::ended;
  }

  bool is_on() const { return is_on_; }

 private:
  // Longer than a step up that is taken back, even where requests take seconds; a law that compares
  // two limits is at the higher one half of the time.
  static constexpr double kMemory = 60;  // seconds, a time constant
  static constexpr double kEnter = 0.3;  // of the time
  static constexpr double kExit = 0.15;

  std::uint32_t max_;
  double share_ = 0;  // of the time, recently
  bool is_on_ = false;
};

}  // namespace spillway::overload
