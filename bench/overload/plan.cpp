#include "bench/overload/plan.hpp"

#include <algorithm>
#include <stdexcept>

#include "bench/load/kinds.hpp"

namespace spillway::bench {
namespace {

constexpr double kStartAndEnd = 0.4;  // of a contender, in seconds
constexpr double kLastAnswers = 1;    // clients wait for a second at most

double share_of_p0(const Scenario& scenario, double load) {
  double share = 0;
  for (const load::Source& source : sources_of(scenario, load)) {
    if (source.kind == 0) share += source.share;
  }
  return share;
}

double measured_seconds(const Scenario& scenario, const Contender& contender, double load) {
  if (!contender.protects && load > 1) return kUnprotectedSeconds;
  const double capacity = capacity_rps(scenario);
  const double for_completions = kCompletions / (capacity * std::min(load, 1.0));
  if (!scenario.judges_purchases || load < 1) return for_completions;
  return std::max(for_completions, kPurchases / (capacity * load * share_of_p0(scenario, load)));
}

std::vector<load::Phase> phases_of(const Scenario& scenario, const Contender& contender,
                                   double load, const PlanOptions& options) {
  const double rate = load * capacity_rps(scenario);
  const double first_rate =
      scenario.warm_up_load > 0 ? scenario.warm_up_load * capacity_rps(scenario) : rate;
  const bool quick = options.quick;
  const auto phase = [&](std::string name, double seconds, double quick_seconds) {
    return load::Phase{std::move(name), from_seconds(quick ? quick_seconds : seconds), rate};
  };
  const auto counted = [&](std::string name, double seconds, double quick_seconds) {
    const bool given = options.seconds > 0;
    return given ? phase(std::move(name), options.seconds, options.seconds)
                 : phase(std::move(name), seconds, quick_seconds);
  };
  const load::Phase run_out = phase("run-out", 1, 0.5);  // longer than any queue timeout
  if (!scenario.disturbance) {
    const double settle = scenario.warm_up_load > 0 ? 2.5 : 2;
    load::Phase warm_up = phase("warm-up", 5, settle);
    warm_up.rate = first_rate;
    return {warm_up, counted("measured", measured_seconds(scenario, contender, load), 2), run_out};
  }
  const Disturbance& disturbance = *scenario.disturbance;
  return {phase("before", 20, 1.2),
          phase("disturbed", disturbance.seconds, disturbance.quick_seconds),
          counted("after", 40, 2.5), run_out};
}

std::string names_of_scenarios() {
  std::string names;
  for (const Scenario& scenario : scenarios()) names.append(" ").append(scenario.name);
  return names;
}

std::vector<const Scenario*> chosen_scenarios(const PlanOptions& options) {
  std::vector<const Scenario*> chosen;
  for (const std::string& name : options.scenarios) {
    chosen.push_back(find_scenario(name));
    if (chosen.back() == nullptr) {
      throw std::runtime_error("there is no scenario " + name + ", but:" + names_of_scenarios());
    }
  }
  if (!chosen.empty()) return chosen;
  for (const Scenario& scenario : scenarios()) {
    if (scenario.usual) chosen.push_back(&scenario);
  }
  return chosen;
}

std::vector<const Contender*> chosen_contenders(const Scenario& scenario,
                                                const PlanOptions& options) {
  std::vector<const Contender*> chosen;
  if (options.contenders.empty()) {
    const auto names = options.quick ? std::vector<Names>{scenario.quick_contenders}
                                     : std::vector<Names>{scenario.others, scenario.contenders};
    for (const Names& some : names) {
      for (const auto name : some) chosen.push_back(find_contender(name));
    }
    return chosen;
  }
  for (const std::string& name : options.contenders) {
    chosen.push_back(find_contender(name));
    if (chosen.back() == nullptr) throw std::runtime_error("there is no contender " + name);
  }
  return chosen;
}

bool contains(const auto& list, const auto& wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

// Whether a contender that is measured once has no part in this load and repetition.
bool is_left_out(const Contender& contender, const Scenario& scenario, double load, int repetition,
                 const PlanOptions& options) {
  if (contains(scenario.contenders, contender.name)) return false;
  if (repetition > 1) return true;
  const auto& loads = options.loads.empty() ? scenario.quick_loads : options.loads;
  if (options.quick) return load != loads.front();
  return options.loads.empty() && !contains(scenario.other_loads, load);
}

}  // namespace

Duration counted_from(const Cell& cell) { return cell.phases.front().length; }

Duration counted_until(const Cell& cell) {
  return load::total_length(cell.phases) - cell.phases.back().length;
}

std::vector<Cell> plan(const PlanOptions& options) {
  const int repetitions = options.repetitions > 0 ? options.repetitions : options.quick ? 1 : 3;
  std::vector<Cell> cells;
  for (const Scenario* scenario : chosen_scenarios(options)) {
    const auto contenders = chosen_contenders(*scenario, options);
    const auto& own_loads = options.quick ? scenario->quick_loads : scenario->loads;
    for (int repetition = 1; repetition <= repetitions; ++repetition) {
      const auto& loads = options.loads.empty() ? own_loads : options.loads;
      for (const double load : loads) {
        for (const Contender* contender : contenders) {
          if (is_left_out(*contender, *scenario, load, repetition, options)) continue;
          cells.push_back({.scenario = scenario,
                           .contender = contender,
                           .load = load,
                           .repetition = repetition,
                           .phases = phases_of(*scenario, *contender, load, options),
                           .seed = options.seed + static_cast<std::uint64_t>(repetition) - 1});
        }
      }
    }
  }
  return cells;
}

double expected_seconds(const Cell& cell) {
  const bool is_protected = contains(cell.scenario->contenders, cell.contender->name);
  const double last = !is_protected && cell.load > 1 ? kLastAnswers : 0;
  return to_seconds(load::total_length(cell.phases)) + kStartAndEnd + last;
}

}  // namespace spillway::bench
