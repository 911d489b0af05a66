// The wait that was first announced to a visitor, and what is learned when it is called: the error
// of the median, and by which factor the ranges are too narrow or too wide.
//
// The factor follows the 80 % quantile of the distance of calls from the median, in units of the
// range without the factor (Robbins and Monro, Annals of Mathematical Statistics 22, 1951), so that
// the factor in force when the range was announced does not matter. Neighbours in line are called
// late together, so a call with n ahead counts as an n-th.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "waiting/pace/estimate.hpp"
#include "waiting/ticket/archive.hpp"
#include "waiting/ticket/ticket.hpp"

namespace spillway::waiting {

// The least of all values announced, for View::why.
struct LeastTold {
  std::uint32_t ahead = UINT32_MAX;
  std::uint32_t own = UINT32_MAX;  // the same, within its own tier
  std::uint32_t end = UINT32_MAX;  // end of its range: seconds since it joined

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
    bool is_within = false;  // of the announced range
    double error = 0;        // of the median, as a part of the longer of both waits
    double distance = 0;     // from the median; 1: as far as the range's end without the factor
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

  std::uint32_t waited_ = 0;  // since the arrival, when it was announced
  float middle_ = 0;          // seconds
  float early_ = 1;           // the median over the lower end
  float late_ = 1;            // the upper end over the median
  std::uint16_t times_ = 0;
  std::uint16_t ahead_ = 0;
};

class Honesty {
 public:
  static constexpr double kNarrowest = 0.9;
  static constexpr double kWidest = 8;
  // Shorter waits depend on ticks and polls.
  static constexpr std::size_t kLeastAhead = 20;

  // `ahead`: tickets ahead of the visitor that gets the range.
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
