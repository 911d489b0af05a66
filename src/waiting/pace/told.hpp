// What a visitor was told first of its wait, and what is learned of it when it is called: how far
// the middle was off, and by how much too narrow or too wide the ranges are.
//
// The factor follows the 80 % quantile of how far calls are from the middle, in units of the range
// without the factor (Robbins and Monro, Annals of Mathematical Statistics 22, 1951), so that it
// does not matter what factor was in force when the range was told. Calls of neighbours in line are
// late together: one of n ahead counts as an n-th.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "waiting/pace/estimate.hpp"
#include "waiting/ticket/archive.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::waiting {

// Of all times that it was told, for View::why.
struct LeastTold {
  std::uint32_t ahead = UINT32_MAX;
  std::uint32_t own = UINT32_MAX;  // likewise, of its own tier
  std::uint32_t end = UINT32_MAX;  // of its range: seconds from when it joined

  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.ahead, self.own, self.end);
  }
};

class Told {
 public:
  bool is_told() const { return middle_ > 0; }
  void tell(const Quantiles& quantiles, double times, std::size_t ahead, Milliseconds waited) {
    waited_ = static_cast<std::uint32_t>(waited.count() / kUnit);
    middle_ = static_cast<float>(std::max(quantiles.p50, 0.001));
    early_ = static_cast<float>(quantiles.p50 / std::max(quantiles.p10, 1e-6));
    late_ = static_cast<float>(quantiles.p90 / std::max(quantiles.p50, 1e-6));
    times_ = static_cast<std::uint16_t>(std::lround(times * kTimes));
    ahead_ = static_cast<std::uint16_t>(std::min<std::size_t>(ahead, UINT16_MAX));
  }

  Time at(Time joined) const { return joined + Milliseconds(std::int64_t{waited_} * kUnit); }

  struct Outcome {
    bool is_within = false;  // of the range that was told
    double error = 0;        // of the middle: what it was off, as a part of the longer of both
    double distance = 0;     // from the middle, 1: as far as the end of the range, without a factor
    std::uint32_t ahead = 0;
  };
  Outcome outcome(Milliseconds waited) const {
    const double passed =
        static_cast<double>(waited.count() - std::int64_t{waited_} * kUnit) / 1000;
    const double wait = std::max(passed, 0.1);
    const double off = std::log(wait / static_cast<double>(middle_));
    const double side = std::log(static_cast<double>(off < 0 ? early_ : late_));
    const double distance = std::abs(off) / std::max(side, 1e-3);
    return {distance <= static_cast<double>(times_) / kTimes,
            std::abs(wait - static_cast<double>(middle_)) /
                std::max(wait, static_cast<double>(middle_)),
            distance, ahead_};
  }

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.waited_, self.middle_, self.early_, self.late_, self.times_, self.ahead_);
  }

  static constexpr std::int64_t kUnit = 100;  // ms
  static constexpr double kTimes = 1000;

  std::uint32_t waited_ = 0;  // since the arrival, when it was told
  float middle_ = 0;          // seconds
  float early_ = 1;           // the middle over the lower end
  float late_ = 1;            // the upper end over the middle
  std::uint16_t times_ = 0;
  std::uint16_t ahead_ = 0;
};

class Honesty {
 public:
  static constexpr double kNarrowest = 0.9;
  static constexpr double kWidest = 8;
  // Shorter waits hang on ticks and polls.
  static constexpr std::size_t kLeastAhead = 20;

  // `ahead`: of whom it is told.
  double times(std::size_t ahead) const { return ahead < kLeastAhead ? 1 : times_; }
  double error() const { return error_; }  // mean of the last thousand or so
  std::uint64_t within() const { return within_; }
  std::uint64_t outside() const { return outside_; }

  void learn(const Told::Outcome& outcome) {
    (outcome.is_within ? within_ : outside_) += 1;
    const auto seen = static_cast<double>(within_ + outside_);
    error_ += (outcome.error - error_) / std::min(seen, kLast);
    if (outcome.ahead < kLeastAhead) return;
    const double step = kStep / outcome.ahead;
    times_ += outcome.distance > times_ ? 0.8 * step : -0.2 * step;
    times_ = std::clamp(times_, kNarrowest, kWidest);
  }

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.times_, self.error_, self.within_, self.outside_);
  }

  static constexpr double kLast = 1000;
  static constexpr double kStep = 0.3;

  double times_ = 1;
  double error_ = 0;
  std::uint64_t within_ = 0;
  std::uint64_t outside_ = 0;
};

}  // namespace spillway::waiting
