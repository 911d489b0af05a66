// The event loop of the modelled proxy: one request after the other, in the order of arrival, and a
// timer every 10 ms whose lateness the proxy's own measure turns into the lag signal.
#pragma once

#include <deque>
#include <optional>

#include "base/time.hpp"
#include "overload/signals/lag.hpp"
#include "simulate/model/request.hpp"

namespace spillway::simulate {

class LoopModel {
 public:
  // `request`: what a request takes of the loop's time; zero: no time, and no lag. A refusal takes
  // half of it.
  explicit LoopModel(Duration request) : request_(request) {}

  bool takes_time() const { return request_ > Duration{0}; }
  bool is_idle() const { return !is_busy_; }

  void add(Request& request) { waiting_.push_back({&request, {}}); }
  // The timer is due. A timer that has not fired yet is not set again.
  void timer_due(TimePoint now) {
    if (has_timer_) return;
    has_timer_ = true;
    waiting_.push_back({nullptr, now});
  }

  // The next request for the idle loop, after the timers before it; nullptr: nothing to do.
  Request* take(TimePoint now) {
    while (!waiting_.empty()) {
      const Waiting next = waiting_.front();
      waiting_.pop_front();
      if (next.request != nullptr) return next.request;
      has_timer_ = false;
      lag_.record(now - next.due, now);
      published_ = lag_.p90(now);
      use_.record(worked_, now);
    }
    return nullptr;
  }
  // The request was taken on or refused: returns the time during which the loop is busy with it.
  Duration work(bool was_refused) {
    is_busy_ = true;
    const Duration time = was_refused ? request_ / 2 : request_;
    worked_ += time;
    return time;
  }
  void done() { is_busy_ = false; }

  // As a worker publishes it, whose loop stands still meanwhile.
  std::optional<Duration> lag() const { return published_; }
  double use() const { return use_.value(); }

 private:
  struct Waiting {
    Request* request;  // nullptr: the timer
    TimePoint due;     // of the timer
  };

  Duration request_;
  std::deque<Waiting> waiting_;
  overload::LoopLag lag_;
  overload::LoopUse use_;
  Duration worked_{0};
  std::optional<Duration> published_;  // as of the last timer
  bool is_busy_ = false;
  bool has_timer_ = false;
};

}  // namespace spillway::simulate
