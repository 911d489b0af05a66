// What became of the honest requests of a cell: of those that were due after the warm-up, from the
// beginning of the attack.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "bench/load/arrivals.hpp"
#include "bench/load/observer.hpp"

namespace spillway::hostile {

struct ProbeCounts {
  std::uint64_t sent = 0;
  std::uint64_t answered = 0;                 // with 2xx, within a second of when it was due
  std::vector<Duration> latencies;            // of these
  std::map<std::string, std::uint64_t> lost;  // the others, by cause
};

inline double answered_ratio(const ProbeCounts& counts) {
  return counts.sent == 0 ? 0
                          : static_cast<double>(counts.answered) / static_cast<double>(counts.sent);
}

class Probes final : public load::Observer {
 public:
  void sent(const load::Attempt& attempt, Duration late) override;
  void ended(const load::Attempt& attempt, const load::Ending& ending, Duration took,
             bool again) override;

  const ProbeCounts& p0() const { return kinds_[0]; }
  const ProbeCounts& p1() const { return kinds_[1]; }
  // How late the load generator was, 99th percentile.
  Duration late_p99() const;

 private:
  std::array<ProbeCounts, 2> kinds_;
  std::vector<Duration> late_;
};

// P0 and P1 at these rates, from 50 addresses in equal shares.
std::vector<load::Arrival> probe_schedule(Duration warm_up, Duration counted, double p0_per_second,
                                          double p1_per_second, std::uint64_t seed);

}  // namespace spillway::hostile
