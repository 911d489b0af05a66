#include "load_plot.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "names.hpp"
#include "overload_figures.hpp"
#include "simulate/figures.hpp"
#include "simulate/palette.hpp"
#include "simulate/panel.hpp"
#include "simulate/scale.hpp"
#include "simulate/svg.hpp"

namespace spillway::report {
namespace {

using simulate::Anchor;
using simulate::Box;
using simulate::coordinate;
using simulate::fixed;
using simulate::Panel;
using simulate::Scale;
using simulate::Svg;
namespace palette = simulate::palette;

constexpr double kWidth = 980, kHead = 92, kPanelWidth = 250, kPanelHeight = 150;
constexpr double kColumn = 320, kLine = 220, kLeft = 56;
constexpr double kLegendColumn = 230;

struct Subject {
  std::string_view title;
  std::string_view cls;
  OverloadFigure figure;
  bool is_time;  // in milliseconds, drawn on a logarithmic axis
};

constexpr std::array<Subject, 6> kSubjects{
    {{"goodput / capacity", "all", goodput, false},
     {"P0 success", "P0", success, false},
     {"P0 p99", "P0", p99, true},
     {"P1 success", "P1", success, false},
     {"P2 success", "P2", success, false},
     {"p99 of a denial on arrival", "all", denial_p99, true}}};

struct Point {
  double load = 0;
  Spread spread;
};

struct Line {
  std::string contender;
  std::size_t position = 0;
  std::vector<Point> points;
};

std::vector<Line> lines_of(const std::vector<OverloadCell>& cells, std::string_view scenario,
                           const Subject& subject) {
  std::vector<Line> lines;
  const std::vector<std::string> all = contenders(cells, scenario);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Line line{.contender = all[i], .position = i, .points = {}};
    for (const double load : loads(cells, scenario)) {
      const Spread spread = over_repetitions(
          cells, {.scenario = scenario, .load = load, .contender = all[i], .cls = subject.cls},
          subject.figure);
      if (spread.count > 0) line.points.push_back({load, spread});
    }
    if (!line.points.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

Scale values_of(const std::vector<Line>& lines, const Subject& subject, const Box& box) {
  double lowest = 1e9, highest = subject.is_time ? 1 : 1.1;
  for (const Line& line : lines) {
    for (const Point& point : line.points) {
      highest = std::max(highest, point.spread.highest);
      if (point.spread.lowest > 0) lowest = std::min(lowest, point.spread.lowest);
    }
  }
  if (!subject.is_time) return Panel::linear(box, highest);
  return Panel::logarithmic(box, std::max(lowest / 2, 0.01) / 1e3, highest * 2 / 1e3);
}

void draw_axes(Svg& svg, const Box& box, const Scale& values, bool is_time,
               const std::vector<double>& all_loads, const Scale& x) {
  for (const double tick : values.ticks(5)) {
    svg.element("path", {{"d", "M" + coordinate(box.x) + " " + coordinate(values(tick)) + "h" +
                                   coordinate(box.width)},
                         {"stroke", palette::kGrid},
                         {"stroke-width", 1}});
    svg.text(box.x - 6, values(tick) + 3.5,
             is_time ? simulate::duration_label(tick) : simulate::count_label(tick),
             {.size = 10.5, .colour = palette::kMuted, .anchor = Anchor::end});
  }
  for (std::size_t i = 0; i < all_loads.size(); ++i) {
    svg.text(x(static_cast<double>(i) + 0.5), box.y + box.height + 15,
             fixed(all_loads[i], all_loads[i] < 2 ? 1 : 0) + "×",
             {.size = 10.5, .colour = palette::kMuted, .anchor = Anchor::middle});
  }
}

void draw_line(Svg& svg, const Line& line, const std::vector<double>& all_loads, const Scale& x,
               const Scale& values, const Subject& subject) {
  const std::string_view colour = colour_of(line.contender, line.position);
  const bool ours = line.contender == "spillway";
  std::string path;
  for (const Point& point : line.points) {
    const auto at = std::find(all_loads.begin(), all_loads.end(), point.load) - all_loads.begin();
    const double px = x(static_cast<double>(at) + 0.5);
    const auto y = [&](double value) { return values(subject.is_time ? value / 1e3 : value); };
    const double py = y(point.spread.median);
    path += (path.empty() ? "M" : "L") + coordinate(px) + " " + coordinate(py);
    svg.element("path", {{"d", "M" + coordinate(px) + " " + coordinate(y(point.spread.lowest)) +
                                   "V" + coordinate(y(point.spread.highest))},
                         {"stroke", colour},
                         {"stroke-width", 1}});
    svg.element("circle", {{"cx", px}, {"cy", py}, {"r", ours ? 4.0 : 3.0}, {"fill", colour}},
                display_name(line.contender) + ": " +
                    fixed(point.spread.median, subject.is_time ? 1 : 3) +
                    (subject.is_time ? " ms" : ""));
  }
  svg.element(
      "path",
      {{"d", path}, {"fill", "none"}, {"stroke", colour}, {"stroke-width", ours ? 2.5 : 1.5}});
}

void draw_panel(Svg& svg, const Box& box, const Subject& subject, const std::vector<Line>& lines,
                const std::vector<double>& all_loads) {
  const Scale values = values_of(lines, subject, box);
  const Scale x = Scale::linear(static_cast<double>(all_loads.size()), box.x, box.x + box.width);
  svg.text(box.x, box.y - 10, subject.title, {.size = 12.5, .bold = true});
  draw_axes(svg, box, values, subject.is_time, all_loads, x);
  for (const Line& line : lines) draw_line(svg, line, all_loads, x, values, subject);
}

}  // namespace

std::string load_plot(const std::vector<OverloadCell>& cells, std::string_view scenario) {
  const std::vector<double> all_loads = loads(cells, scenario);
  std::vector<std::pair<Subject, std::vector<Line>>> panels;
  for (const Subject& subject : kSubjects) {
    std::vector<Line> lines = lines_of(cells, scenario, subject);
    if (!lines.empty()) panels.emplace_back(subject, std::move(lines));
  }
  if (panels.empty()) return "";

  const std::vector<std::string> all = contenders(cells, scenario);
  const double legend_lines = static_cast<double>((all.size() + 3) / 4);
  const double head = kHead + 20 * (legend_lines - 1);
  const double height = head + kLine * static_cast<double>((panels.size() + 2) / 3);
  Svg svg(kWidth, height, "overload: " + std::string(scenario));
  svg.text(kLeft, 26, scenario, {.size = 15, .bold = true});
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double x = kLeft + kLegendColumn * static_cast<double>(i % 4);
    const double y = 50 + 20 * static_cast<double>(i / 4);
    svg.element("circle",
                {{"cx", x + 4}, {"cy", y - 4}, {"r", 4.0}, {"fill", colour_of(all[i], i)}});
    svg.text(x + 14, y, display_name(all[i]));
  }
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const Box box{.x = kLeft + kColumn * static_cast<double>(i % 3),
                  .y = head + kLine * static_cast<double>(i / 3),
                  .width = kPanelWidth,
                  .height = kPanelHeight};
    draw_panel(svg, box, panels[i].first, panels[i].second, all_loads);
  }
  return std::move(svg).finish();
}

}  // namespace spillway::report
