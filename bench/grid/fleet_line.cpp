#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "bench/grid/figures.hpp"
#include "bench/grid/fleet.hpp"
#include "bench/grid/play.hpp"

namespace spillway::grid {
namespace {

using nlohmann::ordered_json;

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

struct Moments {
  double mean = 0, variance = 0;
};
Moments moments(const std::vector<double>& values) {
  Moments out;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) out.mean += value / n;
  for (const double value : values) out.variance += (value - out.mean) * (value - out.mean) / n;
  return out;
}

double jain(const std::vector<double>& shares) {
  double sum = 0, squares = 0;
  for (const double share : shares) {
    sum += share;
    squares += share * share;
  }
  return squares > 0 ? sum * sum / (static_cast<double>(shares.size()) * squares) : 1;
}

double useful_between(const FleetRun& run, std::size_t from, std::size_t until) {
  const auto& begin = run.seconds[from - 1].work;
  const auto& end = run.seconds[until - 1].work;
  return ratio(end.useful - begin.useful, end.available - begin.available);
}

// How the limits move. Proxies that move independently have a ratio of 1, in step of their number.
void add_limits(const Fleet& fleet, const FleetRun& run, const Times& times, ordered_json& line) {
  std::vector<double> sums;
  for (std::size_t s = times.warm_up; s < run.seconds.size(); ++s) {
    const auto& limits = run.seconds[s].limits;
    sums.push_back(std::accumulate(limits.begin(), limits.end(), 0.0));
  }
  double alone = 0;
  std::size_t stayed = 0;
  std::vector<double> together(sums.size());
  for (std::size_t i = 0; i < fleet.proxies.size(); ++i) {
    if (fleet.proxies[i].from > 0 || fleet.proxies[i].until < times.total()) continue;
    std::vector<double> own;
    for (std::size_t s = times.warm_up; s < run.seconds.size(); ++s)
      own.push_back(run.seconds[s].limits[i]);
    alone += moments(own).variance;
    ++stayed;
    for (std::size_t s = 0; s < own.size(); ++s) together[s] += own[s];
  }
  const Moments all = moments(sums);
  line["limits_mean"] = all.mean;
  line["limits_lowest"] = *std::min_element(sums.begin(), sums.end());
  line["limits_highest"] = *std::max_element(sums.begin(), sums.end());
  line["limits_variation"] = ratio(std::sqrt(all.variance), all.mean);
  if (stayed > 1) line["in_step"] = ratio(moments(together).variance, alone);
}

// The most of a server's in-flight requests, by its slots; and of the one that is left.
void add_servers(const Fleet& fleet, const FleetRun& run, const Times& times, ordered_json& line) {
  const std::size_t begin = times.begin(), end = times.end(Shape::cut);
  for (std::size_t i = 0; i < fleet.servers.size(); ++i) {
    double before = 0, during = 0;
    std::uint32_t most = 0, most_during = 0;
    for (std::size_t s = times.warm_up; s < begin; ++s) before += run.seconds[s].in_flight[i];
    for (std::size_t s = begin + 2; s < end; ++s) during += run.seconds[s].in_flight[i];
    for (std::size_t s = times.warm_up; s < begin; ++s)
      most = std::max(most, run.seconds[s].most[i]);
    for (std::size_t s = begin; s < end; ++s)
      most_during = std::max(most_during, run.seconds[s].most[i]);
    const double slots = fleet.servers[i].slots;
    line[fmt::format("in_flight_{}", i + 1)] =
        before / static_cast<double>(begin - times.warm_up) / slots;
    line[fmt::format("in_flight_{}_during", i + 1)] =
        during / static_cast<double>(end - begin - 2) / slots;
    line[fmt::format("most_{}", i + 1)] = most / slots;
    line[fmt::format("most_{}_during", i + 1)] = most_during / slots;
  }
  line["useful_before"] = useful_between(run, times.warm_up, begin);
  line["useful_during"] = useful_between(run, begin, end);
  line["useful_after"] = useful_between(run, end, run.seconds.size());
}

}  // namespace

std::string fleet_line(const Fleet& fleet, const Contender& contender, std::uint64_t seed,
                       const Times& times) {
  FleetRun run = play(fleet, contender, seed, times);
  const Alone best = alone(fleet.cell);
  std::vector<double> shares;
  for (std::size_t i = 0; i < fleet.proxies.size(); ++i) {
    if (fleet.proxies[i].from > 0 || fleet.proxies[i].until < times.total()) continue;
    shares.push_back(
        ratio(static_cast<double>(run.served[i]), static_cast<double>(run.offered[i])));
  }
  std::sort(run.latencies.begin(), run.latencies.end());
  ordered_json line{{"suite", "fleet"},
                    {"fleet", fleet.name},
                    {"contender", contender.name},
                    {"seed", seed},
                    {"proxies", fleet.proxies.size()},
                    {"slots", fleet.cell.slots},
                    {"service_ms", fleet.cell.service.count()},
                    {"load", fleet.cell.load},
                    {"measured_s", times.measured}};
  line["useful"] = ratio(useful_between(run, times.warm_up, run.seconds.size()), best.useful);
  for (std::size_t c = 0; c < run.class_offered.size(); ++c) {
    line[fmt::format("success_P{}", c)] =
        ratio(static_cast<double>(run.class_served[c]), static_cast<double>(run.class_offered[c]));
  }
  if (!run.latencies.empty())
    line["p99_P0_ms"] = 1000 * run.latencies[run.latencies.size() * 99 / 100];
  line["alone_p99_ms"] = 1000 * best.p99;
  if (shares.size() > 1) line["jain_proxies"] = jain(shares);
  line["transitions_each"] =
      ratio(static_cast<double>(run.transitions), static_cast<double>(fleet.proxies.size()));
  add_limits(fleet, run, times, line);
  if (!fleet.servers.empty()) add_servers(fleet, run, times, line);
  round_figures(line);
  return line.dump() + '\n';
}

}  // namespace spillway::grid
