// Rates and dispersions, learned from events in time.
#pragma once

#include <algorithm>
#include <cmath>

#include "waiting/ticket/archive.hpp"

namespace spillway::waiting {

// Events per second: the plain mean at first, later an exponentially weighted one.
class MeanRate {
 public:
  explicit MeanRate(double window_seconds) : window_(window_seconds) {}

  void observe(double seconds, double events) {
    if (seconds <= 0) return;
    age_ = std::min(age_ + seconds, window_);
    const double part = std::min(seconds / age_, 1.0);
    rate_ += (events / seconds - rate_) * part;
    seen_ += (events / seconds - seen_) * part;
    events_ += events;
  }
  double per_second() const { return rate_; }
  double events() const { return events_; }
  // How many events the rate rests on: an exponentially weighted mean is worth two windows.
  double weight() const { return std::min(events_, seen_ * (age_ < window_ ? age_ : 2 * window_)); }
  // From now on events are `times` as frequent: the rate rests on as many events as before.
  void scale(double times) { rate_ *= times; }
  // Takes over what another rate has learned within its shorter window.
  void restart(const MeanRate& recent) {
    rate_ = recent.rate_;
    seen_ = recent.seen_;
    age_ = std::min(recent.age_, window_);
    events_ = recent.weight();
  }

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.window_, self.age_, self.rate_, self.seen_, self.events_);
  }

  double window_;
  double age_ = 0;
  double rate_ = 0;
  double seen_ = 0;  // the same, never scaled
  double events_ = 0;
};

// As steady as a quarter of an hour while the rate is steady, and as quick as a minute or two after
// a change: the rate has changed if the mean of the last two minutes differs from the long one by
// more than three standard deviations of such events. The new rate is the mean of the last 45 s:
// half of the two minutes may lie before the change.
class LearnedRate {
 public:
  static constexpr double kSteady = 900;

  // `dispersion`: of the number of events in a time span.
  void observe(double seconds, double events, double dispersion = 1) {
    recent_.observe(seconds, events);
    latest_.observe(seconds, events);
    steady_.observe(seconds, events);
    seconds_ += seconds;
    if (seconds_ < 2 * kRecent) return;
    const double deviation = std::sqrt(dispersion * steady_.per_second() / (2 * kRecent));
    if (std::abs(recent_.per_second() - steady_.per_second()) > kFar * deviation)
      steady_.restart(latest_);
  }
  void scale(double times) {
    recent_.scale(times);
    latest_.scale(times);
    steady_.scale(times);
  }
  // After at least ten events and ten seconds.
  bool is_known() const {
    return seconds_ >= 10 && recent_.events() >= 10 && steady_.per_second() > 0;
  }
  double per_second() const { return steady_.per_second(); }
  double weight() const { return steady_.weight(); }
  // Variance of per_second() over its square, for independent events; at most 1.
  double doubt() const { return 1 / std::max(weight(), 1.0); }
  double age() const { return std::min(seconds_, kSteady); }  // seconds of observation

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.recent_, self.latest_, self.steady_, self.seconds_);
  }

  static constexpr double kRecent = 120;
  static constexpr double kLatest = 45;
  static constexpr double kFar = 3;  // standard deviations

  MeanRate recent_{kRecent};
  MeanRate latest_{kLatest};
  MeanRate steady_{kSteady};
  double seconds_ = 0;
};

// How unevenly events come: the variance of their number within kWindow over its mean, 1 if
// they are independent (Cox and Lewis 1966). Over the last quarter of an hour or so.
class Dispersion {
 public:
  static constexpr double kWindow = 10;  // seconds

  void observe(double seconds, double events) {
    seconds_ += seconds;
    events_ += events;
    if (seconds_ < kWindow) return;
    windows_ = std::min(windows_ + 1, kWindows);
    const double off = events_ - mean_;
    mean_ += off / windows_;
    variance_ += (off * (events_ - mean_) - variance_) / windows_;
    seconds_ = events_ = 0;
  }
  // As uneven, for `times` as many events.
  void scale(double times) {
    events_ *= times;
    mean_ *= times;
    variance_ *= times;
  }
  // Smoothed as if kBefore windows with independent events had been seen before.
  double index() const {
    if (mean_ <= 0) return 1;
    const double seen = variance_ / mean_;
    return std::max((seen * windows_ + kBefore) / (windows_ + kBefore), kLeast);
  }

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.seconds_, self.events_, self.windows_, self.mean_, self.variance_);
  }

  static constexpr double kWindows = 90;
  static constexpr double kBefore = 5;
  static constexpr double kLeast = 0.3;

  double seconds_ = 0;  // of the window that has begun
  double events_ = 0;
  double windows_ = 0;
  double mean_ = 0;
  double variance_ = 0;
};

// How often waiting visitors give up, per second that each waits; over the last half hour or so.
class LeaveRate {
 public:
  // `left` less those that came back.
  void observe(double seconds, std::size_t waiting, double left) {
    const double keep = std::exp(-seconds / kWindow);
    left_ = left_ * keep + left;
    waited_ = waited_ * keep + seconds * static_cast<double>(waiting);
  }
  double per_second() const { return waited_ > 0 ? std::max(left_ / waited_, 0.0) : 0; }

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.left_, self.waited_);
  }

  static constexpr double kWindow = 900;

  double left_ = 0;
  double waited_ = 0;
};

}  // namespace spillway::waiting
