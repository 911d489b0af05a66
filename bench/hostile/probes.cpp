#include "bench/hostile/probes.hpp"

#include "bench/load/percentile.hpp"

namespace spillway::hostile {
namespace {

constexpr std::uint8_t kCounted = 1;  // phase
constexpr std::uint8_t kAddresses = 50;

}  // namespace

void Probes::sent(const load::Attempt& attempt, Duration late) {
  if (attempt.arrival.phase != kCounted) return;
  ++kinds_[attempt.arrival.kind].sent;
  late_.push_back(late);
}

void Probes::ended(const load::Attempt& attempt, const load::Ending& ending, Duration took, bool) {
  if (attempt.arrival.phase != kCounted) return;
  ProbeCounts& counts = kinds_[attempt.arrival.kind];
  if (ending.fate != load::Fate::ok) {
    ++counts.lost[ending.cause];
    return;
  }
  ++counts.answered;
  counts.latencies.push_back(took);
}

Duration Probes::late_p99() const { return load::percentile(late_, 0.99); }

std::vector<load::Arrival> probe_schedule(Duration warm_up, Duration counted, double p0_per_second,
                                          double p1_per_second, std::uint64_t seed) {
  const double all = p0_per_second + p1_per_second;
  std::vector<load::Source> sources;
  for (std::uint8_t tenant = 1; tenant <= kAddresses; ++tenant) {
    sources.push_back({.kind = 0, .tenant = tenant, .share = p0_per_second / all / kAddresses});
    sources.push_back({.kind = 1, .tenant = tenant, .share = p1_per_second / all / kAddresses});
  }
  const std::vector<load::Phase> phases{{"warm-up", warm_up, all}, {"counted", counted, all}};
  return load::schedule(phases, seed, {}, sources);
}

}  // namespace spillway::hostile
