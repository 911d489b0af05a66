#include "comparison.hpp"

#include <fmt/format.h>

#include "figures.hpp"

namespace spillway::demo {
namespace {

constexpr std::string_view kColumns = "   ok%  degr.%   p50   p99";

std::string result(const Counts& counts) {
  return fmt::format("{:6.2f} {:7.2f} {:>5} {:>5}", per_cent(counts.ok, counts),
                     per_cent(counts.degraded, counts), latency(counts, 0.5),
                     latency(counts, 0.99));
}

}  // namespace

std::string comparison(std::span<const Run> runs, std::span<const Phase> phases, std::size_t phase,
                       const Paint& paint) {
  const auto lead = [](std::string_view name, std::string_view rate) {
    return fmt::format("{:<5} {:>7} ", name, rate);
  };
  const auto per_second = [&](double share) {
    return fmt::format("{:.0f}", phases[phase].rate * share);
  };

  std::string titles = lead("", "");
  std::string columns = lead("class", "req/s");
  std::string all = lead("all", per_second(1));
  for (const Run& run : runs) {
    titles += fmt::format("| {:<{}} ", run.title, kColumns.size());
    columns += fmt::format("| {} ", kColumns);
    Counts sum;
    for (const Counts& counts : run.tally.phase(phase)) sum.add(counts);
    all += "| " + result(sum) + " ";
  }
  std::string text = paint.strong(titles) + '\n' + paint.strong(columns) + '\n';
  for (std::size_t kind = 0; kind < kKindCount; ++kind) {
    text += lead(kKinds[kind].traffic_class, per_second(kKinds[kind].share));
    for (const Run& run : runs) text += "| " + result(run.tally.phase(phase)[kind]) + " ";
    text += '\n';
  }
  return text + all + '\n';
}

}  // namespace spillway::demo
