#include "cost_figures.hpp"

#include <algorithm>

namespace spillway::report {
namespace {

Figure figure_of(const std::vector<CostCell>& cells, int round, std::string_view workload,
                 std::string_view contender, CostFigure figure) {
  for (const CostCell& cell : cells) {
    if (cell.round == round && cell.workload == workload && cell.contender == contender &&
        cell.failure.empty()) {
      return cell.*figure;
    }
  }
  return std::nullopt;
}

struct Place {
  std::string_view workload;
  std::string_view contender;
};

Spread ratios(const std::vector<CostCell>& cells, const Place& place, const Place& other,
              CostFigure figure) {
  std::vector<double> values;
  for (int round = 1; round <= rounds(cells); ++round) {
    const Figure mine = figure_of(cells, round, place.workload, place.contender, figure);
    const Figure theirs = figure_of(cells, round, other.workload, other.contender, figure);
    if (mine && theirs && *theirs != 0) values.push_back(*mine / *theirs);
  }
  return spread_of(std::move(values));
}

std::vector<std::string> distinct(const std::vector<CostCell>& cells,
                                  std::string CostCell::*member) {
  std::vector<std::string> names;
  for (const CostCell& cell : cells) {
    if (std::find(names.begin(), names.end(), cell.*member) == names.end()) {
      names.push_back(cell.*member);
    }
  }
  return names;
}

}  // namespace

Spread over_rounds(const std::vector<CostCell>& cells, std::string_view workload,
                   std::string_view contender, CostFigure figure) {
  std::vector<double> values;
  for (const CostCell& cell : cells) {
    if (cell.workload == workload && cell.contender == contender && cell.failure.empty() &&
        cell.*figure) {
      values.push_back(*(cell.*figure));
    }
  }
  return spread_of(std::move(values));
}

Spread ratio_to(const std::vector<CostCell>& cells, std::string_view workload,
                std::string_view contender, std::string_view other, CostFigure figure) {
  return ratios(cells, {workload, contender}, {workload, other}, figure);
}

Spread ratio_of_workloads(const std::vector<CostCell>& cells, std::string_view contender,
                          std::string_view workload, std::string_view other, CostFigure figure) {
  return ratios(cells, {workload, contender}, {other, contender}, figure);
}

std::vector<std::string> workloads(const std::vector<CostCell>& cells) {
  return distinct(cells, &CostCell::workload);
}

std::vector<std::string> contenders(const std::vector<CostCell>& cells) {
  return distinct(cells, &CostCell::contender);
}

int rounds(const std::vector<CostCell>& cells) {
  int highest = 0;
  for (const CostCell& cell : cells) highest = std::max(highest, cell.round);
  return highest;
}

}  // namespace spillway::report
