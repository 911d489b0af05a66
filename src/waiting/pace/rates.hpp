// Rates learned from a course of events in time.
#pragma once

#include <algorithm>
#include <cmath>

#include "waiting/ticket/archive.hpp"

namespace spillway::waiting {

// Events per second: the plain mean while young, later an exponentially forgetting one.
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
  // How many events the rate rests on: an exponentially forgetting mean is worth two windows.
  double weight() const { return std::min(events_, seen_ * (age_ < window_ ? age_ : 2 * window_)); }
  // So many times as many come from now on: the rate rests on as many events as before.
  void scale(double times) { rate_ *= times; }
  // As if nothing had been observed before these last seconds.
  void restart(double seconds, double events) {
    rate_ = seen_ = events / seconds;
    age_ = std::min(seconds, window_);
    events_ = events;
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
  double seen_ = 0;  // likewise, never scaled
  double events_ = 0;
};

// Whether a rate has become so many times as high, and since when: Page's test (Biometrika 41,
// 1954), by the likelihood of Poisson events, of which many at a time say less.
class RateChange {
 public:
  explicit RateChange(double times) : times_(times) {}

  // `rate`: before, events per second. `dispersion`: of their number.
  void observe(double seconds, double events, double rate, double dispersion) {
    seconds_ += seconds;
    events_ += events;
    const double gain = (events * std::log(times_) - (times_ - 1) * rate * seconds) / dispersion;
    // No more than is needed: what a stall has left soon goes.
    evidence_ = std::min(evidence_ + gain, kSure);
    if (evidence_ <= 0) forget();
  }
  void forget() { seconds_ = events_ = evidence_ = 0; }

  bool is_sure() const { return evidence_ >= kSure && seconds_ >= kShortest; }
  // Since then.
  double seconds() const { return seconds_; }
  double events() const { return events_; }

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.seconds_, self.events_, self.evidence_);
  }

  // Without a change it is sure by chance once in half a day or so, at a rate of one a second.
  static constexpr double kSure = 8;
  static constexpr double kShortest = 30;  // seconds: a stall is no change

  double times_;
  double seconds_ = 0;
  double events_ = 0;
  double evidence_ = 0;  // logarithm of the likelihood ratio, 0 where it begins
};

// As steady as a quarter of an hour while the rate is steady; once it has changed, the rate since
// then.
class LearnedRate {
 public:
  static constexpr double kSteady = 900;

  // `dispersion`: of the number of events within some seconds.
  void observe(double seconds, double events, double dispersion = 1) {
    const double before = steady_.per_second();
    observe_held(seconds, events);
    if (seconds_ < kFirst) return;
    for (RateChange* const change : {&fewer_, &more_}) {
      change->observe(seconds, events, before, dispersion);
      if (!change->is_sure()) continue;
      steady_.restart(change->seconds(), std::max(change->events(), 1.0));
      forget_changes();
      return;
    }
  }
  // While something holds events up that will pass: in the mean, but no other rate.
  void observe_held(double seconds, double events) {
    steady_.observe(seconds, events);
    seconds_ += seconds;
    events_ += events;
  }
  void scale(double times) {
    steady_.scale(times);
    forget_changes();
  }
  // After ten events in ten seconds or more.
  bool is_known() const { return seconds_ >= 10 && events_ >= 10 && steady_.per_second() > 0; }
  double per_second() const { return steady_.per_second(); }
  // At least one event: those that are taken back may leave none.
  double weight() const { return std::max(steady_.weight(), 1.0); }
  double age() const { return std::min(seconds_, kSteady); }  // seconds of observation

 private:
  friend struct Archived;
  template <class Self, class Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.steady_, self.fewer_, self.more_, self.seconds_, self.events_);
  }

  static constexpr double kFirst = 120;  // seconds: until then all of it is new

  void forget_changes() {
    fewer_.forget();
    more_.forget();
  }

  MeanRate steady_{kSteady};
  RateChange fewer_{0.6};
  RateChange more_{1.6};
  double seconds_ = 0;
  double events_ = 0;
};

// How unevenly events come: the variance of how many there are within kWindow over their mean, 1 if
// they are independent (Cox and Lewis 1966). Of the last quarter of an hour or so.
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
  // As uneven, of so many times as many events.
  void scale(double times) {
    events_ *= times;
    mean_ *= times;
    variance_ *= times;
  }
  // As if some windows with independent events had been seen before.
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

// How often those who wait give up, per second of waiting of each; of the last half hour or so.
class LeaveRate {
 public:
  // `left` less those who came back.
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
