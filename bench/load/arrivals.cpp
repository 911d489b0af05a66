#include "bench/load/arrivals.hpp"

#include <cmath>

#include "base/random.hpp"
#include "bench/load/kinds.hpp"
#include "bench/load/pages.hpp"

namespace spillway::load {
namespace {

const Source& draw_source(const std::vector<Source>& sources, Random& random) {
  double rest = random.uniform();
  for (std::size_t i = 0; i + 1 < sources.size(); ++i) {
    if (rest < sources[i].share) return sources[i];
    rest -= sources[i].share;
  }
  return sources.back();
}

}  // namespace

std::vector<Source> usual_mix() {
  std::vector<Source> sources;
  for (std::uint8_t kind = 0; kind < kKindCount; ++kind) {
    sources.push_back({.kind = kind, .share = kKinds[kind].share});
  }
  return sources;
}

std::vector<Arrival> schedule(std::span<const Phase> phases, std::uint64_t seed, const Reads& reads,
                              const std::vector<Source>& sources) {
  std::vector<Arrival> arrivals;
  arrivals.reserve(static_cast<std::size_t>(expected_arrivals(phases) * 1.1) + 16);
  Random random(seed);
  Random read_random(~seed);
  const PageDraw pages(reads.pages);
  Duration phase_start{};
  for (std::size_t phase = 0; phase < phases.size(); ++phase) {
    const Duration phase_end = phase_start + phases[phase].length;
    const double rate = phases[phase].rate;
    Duration at = phase_start;
    while (rate > 0) {
      at += from_seconds(-std::log(1.0 - random.uniform()) / rate);
      if (at >= phase_end) break;
      const Source& source = draw_source(sources, random);
      const bool page = kKinds[source.kind].read && read_random.uniform() < reads.cacheable;
      arrivals.push_back({.at = at,
                          .kind = source.kind,
                          .phase = static_cast<std::uint8_t>(phase),
                          .page = page ? pages.draw(read_random) : 0,
                          .tenant = source.tenant});
    }
    phase_start = phase_end;
  }
  return arrivals;
}

double expected_arrivals(std::span<const Phase> phases) {
  double sum = 0;
  for (const Phase& phase : phases) sum += phase.rate * to_seconds(phase.length);
  return sum;
}

Duration total_length(std::span<const Phase> phases) {
  Duration sum{};
  for (const Phase& phase : phases) sum += phase.length;
  return sum;
}

}  // namespace spillway::load
