#include "tally.hpp"

#include <algorithm>
#include <utility>

#include "bench/load/percentile.hpp"

namespace spillway::demo {

double Counts::ok_share() const {
  return ended() == 0 ? 1.0 : static_cast<double>(ok) / static_cast<double>(ended());
}

void Counts::add(const load::Ending& ending, Duration latency) {
  switch (ending.fate) {
    case load::Fate::ok:
      ++ok;
      if (!ending.degraded.empty()) ++degraded;
      latencies.push_back(latency);
      break;
    case load::Fate::deferred: ++deferred; break;
    case load::Fate::denied: ++denied; break;
    case load::Fate::failed: ++failed; break;
  }
}

void Counts::add(const Counts& other) {
  offered += other.offered;
  ok += other.ok;
  degraded += other.degraded;
  deferred += other.deferred;
  denied += other.denied;
  failed += other.failed;
  latencies.insert(latencies.end(), other.latencies.begin(), other.latencies.end());
}

void Tally::offered(const load::Arrival& arrival, Duration sent_late_by) {
  ++phases_[arrival.phase][arrival.kind].offered;
  ++recent_[arrival.kind].offered;
  sending_lags_.push_back(sent_late_by);
}

void Tally::ended(const load::Arrival& arrival, const load::Ending& ending, Duration latency) {
  phases_[arrival.phase][arrival.kind].add(ending, latency);
  recent_[arrival.kind].add(ending, latency);
  if (!ending.degraded.empty()) ++degraded_[arrival.kind][ending.degraded];
  if (ending.fate == load::Fate::denied) ++denials_[arrival.kind][ending.cause];
  if (ending.fate == load::Fate::failed) ++failures_[arrival.kind][ending.cause];
  if (ending.retry_after) {
    RetryAfter& seen = retry_after_[arrival.kind];
    seen.shortest =
        seen.seen == 0 ? *ending.retry_after : std::min(seen.shortest, *ending.retry_after);
    seen.longest = std::max(seen.longest, *ending.retry_after);
    ++seen.seen;
  }
}

Counts Tally::whole_run(std::size_t kind) const {
  Counts sum;
  for (const CountsByKind& phase : phases_) sum.add(phase[kind]);
  return sum;
}

CountsByKind Tally::take_recent() { return std::exchange(recent_, CountsByKind{}); }

Duration Tally::sending_lag_p99() const { return load::percentile(sending_lags_, 0.99); }

}  // namespace spillway::demo
