#include "ratio_plot.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "names.hpp"
#include "simulate/figures.hpp"
#include "simulate/palette.hpp"
#include "simulate/scale.hpp"
#include "simulate/svg.hpp"

namespace spillway::report {
namespace {

using simulate::Anchor;
using simulate::coordinate;
using simulate::fixed;
using simulate::Scale;
using simulate::Svg;
namespace palette = simulate::palette;

constexpr double kWidth = 860, kLeft = 150, kRight = 30, kTop = 74, kFoot = 30;
constexpr double kRow = 40, kBetween = 10;  // of marks in a row
constexpr double kMost = 2.5;

struct Mark {
  std::string contender;
  std::size_t position = 0;
  Spread ratio;
};

struct Row {
  std::string workload;
  std::vector<Mark> marks;
};

std::vector<Row> rows_of(const std::vector<CostCell>& cells, CostFigure figure) {
  std::vector<Row> rows;
  const std::vector<std::string> all = contenders(cells);
  for (const std::string& workload : workloads(cells)) {
    Row row{.workload = workload, .marks = {}};
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] == "haproxy" || all[i] == "direct") continue;
      const Spread ratio = ratio_to(cells, workload, all[i], "haproxy", figure);
      if (ratio.count > 0) row.marks.push_back({all[i], i, ratio});
    }
    if (!row.marks.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

void draw_mark(Svg& svg, const Scale& x, double y, const Mark& mark, std::string_view workload) {
  const std::string_view colour = colour_of(mark.contender, mark.position);
  const double lowest = x(mark.ratio.lowest);
  svg.element("path", {{"d", "M" + coordinate(lowest) + " " + coordinate(y) + "h" +
                                 coordinate(x(mark.ratio.highest) - lowest)},
                       {"stroke", colour},
                       {"stroke-width", 2}});
  svg.element("circle", {{"cx", x(mark.ratio.median)}, {"cy", y}, {"r", 4.5}, {"fill", colour}},
              display_name(mark.contender) + ", " + std::string(workload) + ": " +
                  fixed(mark.ratio.median, 2) + " (" + fixed(mark.ratio.lowest, 2) + " to " +
                  fixed(mark.ratio.highest, 2) + ")");
}

void draw_legend(Svg& svg, const std::vector<Row>& rows) {
  std::vector<std::string> seen;
  double x = kLeft;
  for (const Row& row : rows) {
    for (const Mark& mark : row.marks) {
      if (std::find(seen.begin(), seen.end(), mark.contender) != seen.end()) continue;
      seen.push_back(mark.contender);
      svg.element("circle", {{"cx", x + 5},
                             {"cy", 46},
                             {"r", 4.5},
                             {"fill", colour_of(mark.contender, mark.position)}});
      svg.text(x + 14, 50, display_name(mark.contender));
      x += 110;
    }
  }
  svg.text(x, 50, "HAProxy: the line at 1", {.colour = palette::kMuted});
}

}  // namespace

std::string ratio_plot(const std::vector<CostCell>& cells, CostFigure figure,
                       std::string_view title) {
  const std::vector<Row> rows = rows_of(cells, figure);
  if (rows.empty()) return "";
  double most = 1.2;
  for (const Row& row : rows) {
    for (const Mark& mark : row.marks) most = std::max(most, mark.ratio.highest * 1.05);
  }
  most = std::min(most, kMost);
  const double bottom = kTop + kRow * static_cast<double>(rows.size());
  Svg svg(kWidth, bottom + kFoot, title);
  svg.text(kLeft, 24, title, {.size = 15, .bold = true});
  draw_legend(svg, rows);

  const Scale x = Scale::linear(most, kLeft, kWidth - kRight);
  for (const double tick : x.ticks(10)) {
    svg.element("path", {{"d", "M" + coordinate(x(tick)) + " " + coordinate(kTop) + "V" +
                                   coordinate(bottom)},
                         {"stroke", palette::kGrid},
                         {"stroke-width", 1}});
    svg.text(x(tick), bottom + 16, fixed(tick, 1),
             {.size = 10.5, .colour = palette::kMuted, .anchor = Anchor::middle});
  }
  svg.element("path",
              {{"d", "M" + coordinate(x(1)) + " " + coordinate(kTop) + "V" + coordinate(bottom)},
               {"stroke", palette::kInk},
               {"stroke-width", 1.5}});
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double middle = kTop + kRow * (static_cast<double>(r) + 0.5);
    svg.text(kLeft - 10, middle + 4, rows[r].workload, {.anchor = Anchor::end});
    const auto count = static_cast<double>(rows[r].marks.size());
    for (std::size_t m = 0; m < rows[r].marks.size(); ++m) {
      const double y = middle + kBetween * (static_cast<double>(m) - (count - 1) / 2);
      draw_mark(svg, x, y, rows[r].marks[m], rows[r].workload);
    }
  }
  return std::move(svg).finish();
}

}  // namespace spillway::report
