// Estimates when a waiting job will be done: its position divided by the recent rate of job ends.
//
// The rate is an exponentially weighted average (kMemory), over the time in which there was work: a
// queue that was empty all night is not slow. Proxies that share a queue exchange their rates, and
// the jobs end at the sum of these.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace spillway::jobs {

// The position of a job, as far as is known.
struct Standing {
  std::uint64_t position = 0;  // 1: the next of its lane; 0: behind all others
  std::uint64_t lanes = 1;     // the lanes that take turns, its own included
  std::uint64_t pending = 0;   // jobs of all lanes
};

// How many jobs will have ended when this one has: from each lane as many as from its own, unless
// it has fewer.
inline std::uint64_t jobs_until(const Standing& job) {
  if (job.position == 0) return job.pending + 1;
  const std::uint64_t most = std::max(job.pending, job.position);
  const std::uint64_t lanes = std::max<std::uint64_t>(job.lanes, 1);
  return lanes > most / job.position ? most : job.position * lanes;
}

class Estimate {
 public:
  static constexpr Duration kMemory = std::chrono::seconds(60);
  static constexpr Milliseconds kLongest = std::chrono::hours(1);

  // Call at least every few seconds. `ended`: the jobs that ended since the last call; `had_work`:
  // some were waiting or running. The first call only starts the measurement; a clock that goes
  // back is treated as standing still.
  void observe(std::uint64_t ended, bool had_work, TimePoint now) {
    const double passed = last_ ? std::max(to_seconds(now - *last_), 0.0) : 0.0;
    const bool is_first = !last_;
    last_ = last_ ? std::max(*last_, now) : now;
    if (is_first || (ended == 0 && !had_work)) return;
    const double kept = std::exp(-passed / to_seconds(kMemory));
    time_ = time_ * kept + to_seconds(kMemory) * (1 - kept);
    jobs_ = jobs_ * kept + static_cast<double>(ended);
  }

  // The rate reported by the other proxies on the queue, in jobs per second.
  void learn_others(double rate) { others_ = std::max(rate, 0.0); }
  // Whether this proxy can forward waiting jobs: it pulls, and not all are of paused routes.
  void take_part(bool takes_part) { takes_part_ = takes_part; }

  // The rate at which this proxy ends jobs, per second; nullopt: not known yet.
  std::optional<double> rate() const {
    if (time_ < kKnownTime || jobs_ <= 0) return std::nullopt;
    return jobs_ / time_;
  }
  // The rate to report to the others, which they add to theirs.
  double rate_to_tell() const { return takes_part_ ? rate().value_or(0) : 0; }
  // Jobs per second of all proxies together. While no proxy takes part: this proxy's last rate.
  std::optional<double> rate_of_all() const {
    const double sum = others_ + rate_to_tell();
    return sum > 0 ? sum : rate();
  }

  // The time until this many jobs have ended; in [0, kLongest]. nullopt: unknown, or the rate is 0.
  std::optional<Milliseconds> wait(std::uint64_t jobs) const {
    const std::optional<double> known = rate_of_all();
    if (!known || jobs == 0) return std::nullopt;
    const double longest = static_cast<double>(kLongest.count());
    const double wait = std::ceil(1000.0 * static_cast<double>(jobs) / *known);
    return wait < longest ? Milliseconds(static_cast<std::int64_t>(wait)) : kLongest;
  }

  // For Retry-After, in [1 s, 1 h]; `otherwise` if wait() has no value. `least`: the job is not due
  // before.
  std::chrono::seconds retry_after(std::uint64_t jobs, std::chrono::seconds otherwise,
                                   Milliseconds least = Milliseconds{0}) const {
    const std::optional<Milliseconds> known = wait(jobs);
    const auto seconds =
        std::max(known ? std::chrono::ceil<std::chrono::seconds>(*known) : otherwise,
                 std::chrono::ceil<std::chrono::seconds>(least));
    return std::clamp<std::chrono::seconds>(seconds, std::chrono::seconds(1),
                                            std::chrono::hours(1));
  }

 private:
  // Less than a second with work is too little evidence; with weights, that is a little less.
  static constexpr double kKnownTime = 0.99;

  std::optional<TimePoint> last_;
  double time_ = 0;  // seconds with work, weighted
  double jobs_ = 0;  // jobs that ended in that time, weighted likewise
  double others_ = 0;
  bool takes_part_ = true;
};

}  // namespace spillway::jobs
