#include "bench/grid/play.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "simulate/model/traffic_source.hpp"
#include "simulate/run/simulation.hpp"

namespace spillway::grid {
namespace {

using simulate::Change;
using simulate::Clients;

constexpr std::array<const char*, 3> kClasses{"P0", "P1", "P2"};
constexpr std::uint32_t kTenants = 5;  // of each class
constexpr std::uint32_t kQuiet = 9;    // of a class with a noisy one
constexpr double kBase = 0.85;         // load before and after a step
constexpr double kRampFrom = 0.5;
constexpr double kCutTo = 0.4;
constexpr double kStall = 0.1;  // speed
constexpr std::size_t kDraws = 100'000;

// Of the requests. At tenfold load P0 would take all of the capacity.
std::array<double, 3> mix(const Cell& cell) {
  if (cell.load >= 10) return {0.07, 0.33, 0.6};
  return {0.1, 0.3, 0.6};
}

// A part of the run in which nothing of the clients changes, or evenly.
struct Segment {
  double from = 0, until = 0;
  double load = 1;
  std::optional<double> ramp_to = std::nullopt;
  double factor = 1;  // cost of a request of P1
};

std::vector<Segment> segments(const Cell& cell, const Times& times) {
  const double end = times.total();
  const double begin = times.begin(), until = times.end(cell.shape);
  switch (cell.shape) {
    case Shape::step: return {{0, begin, kBase}, {begin, until, cell.load}, {until, end, kBase}};
    case Shape::ramp: {
      const double warm = times.warm_up;
      return {{0, warm, kRampFrom}, {warm, end, kRampFrom, cell.load}};
    }
    case Shape::mix_shift: {
      const double middle = (times.warm_up + end) / 2;
      return {{0, middle, cell.load, std::nullopt, 0.5}, {middle, end, cell.load, std::nullopt, 2}};
    }
    default: return {{0, end, cell.load}};
  }
}

void add_clients(const Cell& cell, const Segment& segment, std::size_t c, simulate::Scenario& out) {
  const auto parts = mix(cell);
  const double mean_cost = parts[0] + parts[1] * segment.factor + parts[2];
  const double per_load = capacity(cell) / mean_cost * parts[c];
  Clients clients{.traffic_class = static_cast<ClassId>(c),
                  .tenant = kClasses[c],
                  .tenants = kTenants,
                  .rate = per_load * segment.load,
                  .from = segment.from,
                  .until = segment.until,
                  .service_factor = c == 1 ? segment.factor : 1,
                  .timeout = cell.timeout};
  if (segment.ramp_to) clients.ramp_to = per_load * *segment.ramp_to;
  if (cell.shape == Shape::noisy && c == 1) {
    clients.rate /= 2;
    clients.tenants = kQuiet;
    out.clients.push_back(clients);
    clients.tenants = 1;
    clients.tenant = "P1-noisy";
  }
  if (cell.shape == Shape::storm) {
    clients.retries = 5;
    clients.retry_backoff = Milliseconds{200};
    if (c > 0) {
      clients.rate /= 2;
      out.clients.push_back(clients);
      clients.honours_retry_after = false;
    }
  }
  out.clients.push_back(clients);
}

std::optional<Change> change(const Cell& cell, const Times& times) {
  Change out{.at = static_cast<double>(times.begin()),
             .until = static_cast<double>(times.end(cell.shape))};
  switch (cell.shape) {
    case Shape::slow2: out.speed = 0.5; return out;
    case Shape::slow5: out.speed = 0.2; return out;
    case Shape::storm: out.speed = kStall; return out;
    case Shape::cut: out.slots = static_cast<std::uint32_t>(kCutTo * cell.slots + 0.5); return out;
    default: return std::nullopt;
  }
}

}  // namespace

Alone alone(const Cell& cell) {
  Random random(1);
  std::vector<double> takes(kDraws);
  double all = 0, useful = 0;
  for (double& one : takes) {
    one = simulate::lognormal(to_seconds(cell.service), cell.sigma, random);
    if (cell.has_tail && random.uniform() < 0.01) one *= 10;
    all += one;
    if (one <= to_seconds(cell.timeout)) useful += one;
  }
  std::sort(takes.begin(), takes.end());
  const auto in_time = static_cast<std::size_t>(
      std::upper_bound(takes.begin(), takes.end(), to_seconds(cell.timeout)) - takes.begin());
  return {.p95 = takes[kDraws * 95 / 100],
          .p99 = takes[in_time * 99 / 100],
          .answered = static_cast<double>(in_time) / kDraws,
          .useful = useful / all};
}

simulate::Scenario scenario(const Cell& cell, std::uint64_t seed, const Times& times) {
  simulate::Scenario out;
  out.name = name(cell);
  out.seconds = times.total();
  out.warm_up_seconds = times.warm_up;
  out.seed = seed;
  out.backend.slots = cell.slots;
  out.backend.service = cell.service;
  out.backend.sigma = cell.sigma;
  out.backend.tail_probability = cell.has_tail ? 0.01 : 0;
  if (cell.shape == Shape::thrash) out.backend.thrash_knee = cell.slots;
  if (const auto one = change(cell, times)) out.changes.push_back(*one);
  for (const Segment& segment : segments(cell, times)) {
    for (std::size_t c = 0; c < kClasses.size(); ++c) add_clients(cell, segment, c, out);
  }
  return out;
}

double share_of_first_class(const Cell& cell) {
  double demand = 0;  // of the full capacity
  for (const Segment& segment : segments(cell, {})) {
    const auto parts = mix(cell);
    const double mean_cost = parts[0] + parts[1] * segment.factor + parts[2];
    demand = std::max(demand,
                      parts[0] / mean_cost * std::max(segment.load, segment.ramp_to.value_or(0)));
  }
  const auto disturbed = change(cell, {});
  if (!disturbed) return demand;
  const double slots = disturbed->slots.value_or(cell.slots);
  return demand / (disturbed->speed * slots / cell.slots);
}

Run play(const Cell& cell, const Contender& contender, std::uint64_t seed, const Times& times) {
  Run run{cell, seed, times, alone(cell), {}};
  simulate::Scenario played = scenario(cell, seed, times);
  played.config = configuration(contender, cell, run.alone.p95);
  run.recording = simulate::simulate(played, contender.name != "passthrough");
  return run;
}

}  // namespace spillway::grid
