#include "overload_figures.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace spillway::report {
namespace {

void add_distinct(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

}  // namespace

Spread over_repetitions(const std::vector<OverloadCell>& cells, const OverloadPlace& place,
                        OverloadFigure figure) {
  std::vector<double> values;
  for (const OverloadCell& cell : cells) {
    if (cell.scenario != place.scenario || cell.load != place.load || cell.cls != place.cls ||
        cell.contender != place.contender || !cell.tenant.empty() || !cell.failure.empty()) {
      continue;
    }
    if (const Figure value = figure(cell)) values.push_back(*value);
  }
  return spread_of(std::move(values));
}

Figure goodput(const OverloadCell& cell) { return cell.goodput_ratio; }

Figure success(const OverloadCell& cell) {
  if (!cell.sent || !cell.succeeded || *cell.sent <= 0) return std::nullopt;
  return *cell.succeeded / *cell.sent;
}

Figure p50(const OverloadCell& cell) { return cell.p50_ms; }
Figure p99(const OverloadCell& cell) { return cell.p99_ms; }
Figure denial_p99(const OverloadCell& cell) { return cell.denied_on_arrival_p99_ms; }

Figure late_refusals(const OverloadCell& cell) {
  if (!cell.denied || !cell.evicted || !cell.timed_out) return std::nullopt;
  const double late = *cell.evicted + *cell.timed_out;
  const double all = *cell.denied + late;
  return all > 0 ? late / all : 0;
}

Figure wasted(const OverloadCell& cell) { return cell.wasted_ratio; }
Figure recovery(const OverloadCell& cell) { return cell.recovery_s; }

Figure recovered(const OverloadCell& cell) {
  if (!cell.recovery_s) return std::nullopt;
  return cell.recovered ? 1 : 0;
}

Figure jain(const OverloadCell& cell) { return cell.jain; }

std::vector<std::string> scenarios(const std::vector<OverloadCell>& cells) {
  std::vector<std::string> names;
  for (const OverloadCell& cell : cells) add_distinct(names, cell.scenario);
  return names;
}

std::vector<double> loads(const std::vector<OverloadCell>& cells, std::string_view scenario) {
  std::set<double> distinct;
  for (const OverloadCell& cell : cells) {
    if (cell.scenario == scenario) distinct.insert(cell.load);
  }
  return {distinct.begin(), distinct.end()};
}

std::vector<std::string> contenders(const std::vector<OverloadCell>& cells,
                                    std::string_view scenario) {
  std::vector<std::string> names;
  for (const OverloadCell& cell : cells) {
    if (cell.scenario == scenario) add_distinct(names, cell.contender);
  }
  return names;
}

}  // namespace spillway::report
