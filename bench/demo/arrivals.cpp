#include "arrivals.hpp"

#include <cmath>

#include "base/random.hpp"
#include "kinds.hpp"
#include "pages.hpp"

namespace spillway::demo {
namespace {

std::uint8_t draw_kind(Random& random) {
  double rest = random.uniform();
  for (std::uint8_t kind = 0; kind < kKindCount - 1; ++kind) {
    if (rest < kKinds[kind].share) return kind;
    rest -= kKinds[kind].share;
  }
  return kKindCount - 1;
}

}  // namespace

std::vector<Arrival> schedule(std::span<const Phase> phases, std::uint64_t seed,
                              const Reads& reads) {
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
      const std::uint8_t kind = draw_kind(random);
      const bool page = kKinds[kind].read && read_random.uniform() < reads.cacheable;
      arrivals.push_back({.at = at,
                          .kind = kind,
                          .phase = static_cast<std::uint8_t>(phase),
                          .page = page ? pages.draw(read_random) : 0});
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

}  // namespace spillway::demo
