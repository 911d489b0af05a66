// The work of a run at every tick and every second.
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "simulate/run/run.hpp"

namespace spillway::simulate {

using namespace std::chrono_literals;

void Run::tick() {
  std::optional<Duration> lag = loop_.lag();
  for (const Change* change : changes_in_force()) {
    if (change->event_loop_lag)
      lag = std::max<Duration>(lag.value_or(0ms), *change->event_loop_lag);
  }
  if (const auto transition = proxy_->tick(now_, {lag, loop_.use()})) {
    recorder_.changed(now_, transition->to, transition->reason);
  }
  visitors_.tick({.state = proxy_->state(),
                  .is_refusing = proxy_->take_refused() > 0,
                  .are_waiting = proxy_->queued() > 0},
                 now_);
  schedule(now_ + upstream_.overload.tick, EventKind::tick);
}

void Run::end_second() {
  const auto seconds = static_cast<std::uint32_t>((now_ - kBegin) / 1s);
  Second end;
  end.queued = static_cast<std::uint32_t>(depth());
  end.running = backend_.running();
  for (std::size_t c = 0; c < scenario_.config.classes.size(); ++c) {
    const auto id = static_cast<ClassId>(c);
    end.class_queued.push_back(
        static_cast<std::uint32_t>(backend_.queued(id) + (proxy_ ? proxy_->queued(id) : 0)));
  }
  if (proxy_) {
    end.state = proxy_->state();
    end.reason = proxy_->reason();
    end.limit = proxy_->limit();
    end.is_limit_at_max = proxy_->is_limit_at_max();
  }
  end.work = backend_.work_done(now_);
  if (proxy_ && jobs_.is_in_use()) {
    end.jobs_pending = jobs_.pending();
    end.jobs_done = jobs_.done();
    recorder_.jobs(jobs_.summary(now_));
  }
  if (visitors_.is_in_use()) {
    visitors_.end_second(end);
    recorder_.visitors(visitors_.summary());
  }
  recorder_.end_second(std::move(end));
  if (progress_) progress_(seconds);
  if (seconds < scenario_.seconds) {
    schedule(now_ + 1s, EventKind::second);
  } else {
    work_at_end_ = backend_.work_done(now_);
  }
}

std::vector<const Change*> Run::changes_in_force() const {
  std::vector<const Change*> out;
  const double at = to_seconds(now_ - kBegin);
  for (const Change& change : scenario_.changes) {
    if (change.at <= at && (!change.until || at < *change.until)) out.push_back(&change);
  }
  return out;
}

}  // namespace spillway::simulate
