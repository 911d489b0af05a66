#include "unit/simulate/recordings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

namespace spillway::simulate {
namespace {

// Between -1 and 1, jumping about like noise.
double wobble(std::size_t i) {
  const double x = std::sin(static_cast<double>(i) * 12.9898) * 43758.5453;
  return 2 * (x - std::floor(x)) - 1;
}

std::uint64_t near(double rate, std::size_t i) {
  return static_cast<std::uint64_t>(std::max(0.0, rate + 1.2 * std::sqrt(rate) * wobble(i)));
}

void add(ClassCounts& sum, const ClassCounts& each) {
  sum.offered += each.offered;
  sum.admitted += each.admitted;
  sum.degraded += each.degraded;
  sum.denied += each.denied;
  sum.expired += each.expired;
  sum.served += each.served;
  sum.late += each.late;
}

// From the seconds: the sums of each class, its success and the deepest queue.
void sum_up(Recording& run) {
  for (std::size_t t = 0; t < run.seconds.size(); ++t) {
    run.max_queued = std::max(run.max_queued, run.seconds[t].queued);
    if (static_cast<double>(t) < run.warm_up) continue;
    for (std::size_t i = 0; i < run.classes.size(); ++i) {
      add(run.classes[i].counts, run.seconds[t].classes[i]);
    }
  }
  for (ClassSummary& each : run.classes) {
    const double offered = static_cast<double>(each.counts.offered);
    if (offered > 0) {
      each.success = std::min(1.0, static_cast<double>(each.counts.served) / offered);
    }
  }
}

constexpr std::array<double, 3> kShare{0.997, 0.85, 0.30};  // served during the spike

Second spike_second(bool shedding, std::size_t t) {
  const bool spike = t >= 10 && t < 50;
  const double grown = spike ? static_cast<double>(t - 9) / 40 : t < 50 ? 0 : 0.6;
  Second second;
  for (std::size_t i = 0; i < 3; ++i) {
    const double rate = std::array{50.0, 200.0, 500.0}[i] * (spike ? 1 : 0.3);
    ClassCounts counts;
    counts.offered = near(rate, 3 * t + i);
    const double share = !spike && (shedding || t < 10) ? 1 : shedding ? kShare[i] : 0.5;
    const auto answered = static_cast<std::uint64_t>(static_cast<double>(counts.offered) * share);
    counts.admitted = answered;
    if (shedding || t < 13) {
      counts.served = answered;
      counts.denied = shedding && i > 0 ? (counts.offered - answered) * 3 / 4 : 0;
      counts.degraded = shedding && i == 2 && spike ? answered / 10 : 0;
    } else {
      counts.served = answered / 25;
      counts.late = answered - counts.served;
    }
    counts.expired = shedding ? counts.offered - answered - counts.denied : 0;
    second.classes.push_back(counts);
  }
  const double base = 0.042 + 0.004 * wobble(t);
  second.p95 = base + (shedding ? (spike ? 0.05 : 0) : 18 * grown);
  second.queued =
      static_cast<std::uint32_t>(shedding ? (spike ? 90 + 20 * wobble(t) : 0) : 16000 * grown);
  second.class_queued = {second.queued / 20, second.queued / 5,
                         second.queued - second.queued / 20 - second.queued / 5};
  second.running = spike ? 100 : 60;
  return second;
}

}  // namespace

Recording made_up_spike(bool shedding) {
  Recording run;
  run.scenario = "spike";
  run.sentence = "Twice as much as the backend can do arrives for forty seconds.";
  run.shedding = shedding;
  run.warm_up = 5;
  run.goodput = shedding ? 0.981 : 0.118;
  run.wasted = shedding ? 0.0031 : 0.871;
  run.p95 = shedding ? 0.093 : 16.9;
  run.changes = {{10.4, State::elevated, Reason::inflight_saturation},
                 {12.1, State::overloaded, Reason::queue_wait_risk}};
  if (shedding) {
    run.changes.push_back({51.2, State::elevated, Reason::queue_wait_risk});
    run.changes.push_back({54.2, State::normal, Reason::queue_wait_risk});
  } else {
    run.changes.push_back({16.5, State::critical, Reason::tail_latency});
  }
  const double slower = shedding ? 1 : 180;
  run.classes = {{"P0", {}, 0, 0.021 * slower, 0.048 * slower, 0.071 * slower, 0.02},
                 {"P1", {}, 0, 0.025 * slower, 0.082 * slower, 0.110 * slower, 0.06},
                 {"P2", {}, 0, 0.044 * slower, 0.121 * slower, 0.152 * slower, 0.09}};
  for (std::size_t t = 0; t < 60; ++t) {
    run.seconds.push_back(spike_second(shedding, t));
    const auto in = [&](double at) { return static_cast<double>(t) + 1 > at; };
    for (const StateChange& change : run.changes) {
      if (in(change.at)) run.seconds.back().state = change.to;
      if (in(change.at)) run.seconds.back().reason = change.reason;
    }
  }
  sum_up(run);
  return run;
}

Recording made_up_run(std::size_t classes, std::size_t seconds) {
  Recording run;
  run.scenario = "made-up";
  run.sentence = "Some classes ask now more and now less.";
  run.goodput = 0.9;
  run.wasted = 0.01;
  run.p95 = 0.05;
  for (std::size_t i = 0; i < classes; ++i) {
    run.classes.push_back({"class " + std::to_string(i), {}, 0, 0.01, 0.03, 0.04, 0.005});
  }
  for (std::size_t t = 0; t < seconds; ++t) {
    const bool busy = t / 10 % 2 == 1;
    if (t > 0 && t % 10 == 0) {
      run.changes.push_back({static_cast<double>(t), busy ? State::overloaded : State::normal,
                             busy ? Reason::queue_saturation : Reason::none});
    }
    Second second;
    second.state = busy ? State::overloaded : State::normal;
    second.reason = busy ? Reason::queue_saturation : Reason::none;
    for (std::size_t i = 0; i < classes; ++i) {
      const std::uint64_t offered = near(busy ? 80 : 40, t * classes + i);
      const std::uint64_t served = busy ? offered / (i + 1) : offered;
      second.classes.push_back(
          {.offered = offered, .admitted = served, .denied = offered - served, .served = served});
      second.class_queued.push_back(busy ? 4 : 0);
      second.queued += second.class_queued.back();
    }
    second.p95 = busy ? 0.05 : 0.02;
    run.seconds.push_back(std::move(second));
  }
  sum_up(run);
  return run;
}

}  // namespace spillway::simulate
