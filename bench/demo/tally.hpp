// What became of the requests of a run, counted as the user behind them would see it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "bench/load/arrivals.hpp"
#include "bench/load/ending.hpp"
#include "bench/load/kinds.hpp"
#include "bench/load/observer.hpp"

namespace spillway::demo {

struct Counts {
  std::uint64_t offered = 0;
  std::uint64_t ok = 0;
  std::uint64_t degraded = 0;  // of the ok ones
  std::uint64_t deferred = 0;
  std::uint64_t denied = 0;
  std::uint64_t failed = 0;
  std::vector<Duration> latencies;  // of the ok ones, from the intended instant to the end

  std::uint64_t ended() const { return ok + deferred + denied + failed; }
  double ok_share() const;  // of the ended ones; 1 when there were none
  void add(const load::Ending& ending, Duration latency);
  void add(const Counts& other);
};

using CountsByKind = std::array<Counts, load::kKindCount>;

// What became of the requests that a proxy deferred.
struct Backlog {
  std::uint64_t deferred = 0;           // written down
  std::uint64_t done = 0;               // answered by the backend since
  std::optional<Duration> empty_after;  // the last request of the load had ended; nullopt: was not
};

class Tally final : public load::Observer {
 public:
  explicit Tally(std::size_t phases) : phases_(phases) {}

  void sent(const load::Attempt& attempt, Duration late) override {
    offered(attempt.arrival, late);
  }
  void ended(const load::Attempt& attempt, const load::Ending& ending, Duration took,
             bool /*again*/) override {
    ended(attempt.arrival, ending, took);
  }

  void offered(const load::Arrival& arrival, Duration sent_late_by);
  void ended(const load::Arrival& arrival, const load::Ending& ending, Duration latency);

  const CountsByKind& phase(std::size_t number) const { return phases_[number]; }
  std::size_t phase_count() const { return phases_.size(); }
  Counts whole_run(std::size_t kind) const;

  // Everything since the last call: requests offered and requests ended in that time.
  CountsByKind take_recent();

  struct RetryAfter {
    std::uint32_t shortest = 0;
    std::uint32_t longest = 0;
    std::uint64_t seen = 0;
  };
  const RetryAfter& retry_after(std::size_t kind) const { return retry_after_[kind]; }
  using Causes = std::map<std::string, std::uint64_t, std::less<>>;
  const Causes& denial_reasons(std::size_t kind) const { return denials_[kind]; }
  const Causes& degraded_modes(std::size_t kind) const { return degraded_[kind]; }
  const Causes& failure_causes(std::size_t kind) const { return failures_[kind]; }

  // nullopt: nothing was deferred.
  const std::optional<Backlog>& backlog() const { return backlog_; }
  void set_backlog(const Backlog& backlog) { backlog_ = backlog; }

  // How long after its intended instant 99 % of the requests were sent: tells whether the
  // load generator itself kept up.
  Duration sending_lag_p99() const;

 private:
  std::vector<CountsByKind> phases_;
  CountsByKind recent_;
  std::array<RetryAfter, load::kKindCount> retry_after_{};
  std::array<Causes, load::kKindCount> denials_;
  std::array<Causes, load::kKindCount> degraded_;
  std::array<Causes, load::kKindCount> failures_;
  std::vector<Duration> sending_lags_;
  std::optional<Backlog> backlog_;
};

}  // namespace spillway::demo
