// The event loop of the modelled proxy: one request after the other, in the order of arrival, and
// between them a timer every 10 ms, which looks for how long the oldest one has waited. The proxy's
// own measure turns that into the lag signal.
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

  void add(Request& request, TimePoint now) { waiting_.push_back({&request, now}); }
  // The timer is due. A timer that has not fired yet is not set again.
  void timer_due(TimePoint now) {
    if (!timer_due_) timer_due_ = now;
  }

  // The next request for the idle loop, after the timer; nullptr: nothing to do.
  Request* take(TimePoint now) {
    if (timer_due_) fire(now);
    if (waiting_.empty()) return nullptr;
    Request* const next = waiting_.front().request;
    waiting_.pop_front();
    return next;
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
    Request* request;
    TimePoint since;
  };

  void fire(TimePoint now) {
    const Duration unread = waiting_.empty() ? Duration{0} : now - waiting_.front().since;
    lag_.record(now - *timer_due_, unread, now);
    published_ = lag_.value(now);
    use_.record(worked_, now);
    timer_due_.reset();
  }

  Duration request_;
  std::deque<Waiting> waiting_;
  overload::LoopLag lag_;
  overload::LoopUse use_;
  Duration worked_{0};
  std::optional<Duration> published_;  // as of the last timer
  bool is_busy_ = false;
  std::optional<TimePoint> timer_due_;  // it has not fired
};

}  // namespace spillway::simulate
