// The event loop of the modelled proxy: it handles one request after the other in order of arrival,
// and in between a timer every 10 ms, which samples how long the oldest one has waited. The proxy's
// own code turns that into the lag signal.
#pragma once

#include <deque>
#include <optional>

#include "base/time.hpp"
#include "overload/signals/lag.hpp"
#include "simulate/model/request.hpp"

namespace spillway::simulate {

class LoopModel {
 public:
  // `request`: the loop's time for a request; zero: no time, and no lag. A refusal takes half of
  // it.
  explicit LoopModel(Duration request) : request_(request) {}

  bool takes_time() const { return request_ > Duration{0}; }
  bool is_idle() const { return !is_busy_; }

  void add(Request& request, TimePoint now) { waiting_.push_back({&request, now}); }
  // The timer is due. If it has not fired yet, it is not set again.
  void timer_due(TimePoint now) {
    if (!timer_due_) timer_due_ = now;
  }

  // The next request for the idle loop, after the timer; nullptr: none.
  Request* take(TimePoint now) {
    if (timer_due_) fire(now);
    if (waiting_.empty()) return nullptr;
    Request* const next = waiting_.front().request;
    waiting_.pop_front();
    return next;
  }
  // The request was accepted or refused: returns the time for which it keeps the loop busy.
  Duration work(bool was_refused) {
    is_busy_ = true;
    const Duration time = was_refused ? request_ / 2 : request_;
    worked_ += time;
    return time;
  }
  void done() { is_busy_ = false; }

  // As a worker publishes it: unchanged while its loop is blocked.
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
