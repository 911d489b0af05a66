#include "figures.hpp"

#include <fmt/format.h>

#include "bench/load/percentile.hpp"

namespace spillway::demo {

double per_cent(std::uint64_t part, const Counts& counts) {
  if (counts.ended() == 0) return 0;
  return 100.0 * static_cast<double>(part) / static_cast<double>(counts.ended());
}

std::string latency(const Counts& counts, double share) {
  if (counts.ok == 0) return "-";
  const double ms = to_milliseconds(load::percentile(counts.latencies, share));
  if (ms < 0.05) return "<0.1";
  return ms < 9.95 ? fmt::format("{:.1f}", ms) : fmt::format("{:.0f}", ms);
}

}  // namespace spillway::demo
