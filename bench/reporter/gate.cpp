#include "gate.hpp"

#include <algorithm>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "cost_figures.hpp"
#include "simulate/figures.hpp"

namespace spillway::report {
namespace {

double most(const Bound& bound) { return bound.ratio * (1 + bound.margin); }

}  // namespace

std::vector<Bound> read_bounds(std::istream& text) {
  std::vector<Bound> bounds;
  try {
    const auto object = nlohmann::json::parse(text, nullptr, true, true);
    for (const auto& [workload, bound] : object.items()) {
      bounds.push_back({.workload = workload,
                        .ratio = bound.at("ratio").get<double>(),
                        .margin = bound.at("margin").get<double>()});
      if (!(bounds.back().ratio > 0) || !(bounds.back().margin >= 0)) {
        throw std::runtime_error(workload + ": a ratio is positive and a margin not negative");
      }
    }
  } catch (const nlohmann::json::exception& problem) {
    throw std::runtime_error(problem.what());
  }
  return bounds;
}

OverloadStatus judge(const std::vector<CostCell>& cells, const Bound& bound) {
  OverloadStatus judgement{
      .bound = bound,
      .ratio = ratio_to(cells, bound.workload, "spillway", "haproxy", &CostCell::cpu_us)};
  if (judgement.ratio.count >= kFewestRounds) {
    judgement.outcome = judgement.ratio.median <= most(bound) ? Outcome::kept : Outcome::broken;
  }
  return judgement;
}

std::string sentence(const OverloadStatus& judgement) {
  using simulate::fixed;
  const Spread& ratio = judgement.ratio;
  if (judgement.outcome == Outcome::unmeasured) {
    return judgement.bound.workload + ": " + std::to_string(ratio.count) +
           " rounds were measured and " + std::to_string(kFewestRounds) + " are needed: unmeasured";
  }
  return judgement.bound.workload + ": " + fixed(ratio.median, 2) +
         " of HAProxy's CPU per request (" + fixed(ratio.lowest, 2) + " to " +
         fixed(ratio.highest, 2) + " in " + std::to_string(ratio.count) + " rounds), at most " +
         fixed(most(judgement.bound), 2) + ": " +
         (judgement.outcome == Outcome::kept ? "kept" : "BROKEN");
}

int status_of(const std::vector<OverloadStatus>& judgements) {
  const auto any = [&](Outcome outcome) {
    return std::any_of(judgements.begin(), judgements.end(),
                       [&](const OverloadStatus& each) { return each.outcome == outcome; });
  };
  if (any(Outcome::broken)) return 1;
  return judgements.empty() || any(Outcome::unmeasured) ? 2 : 0;
}

}  // namespace spillway::report
