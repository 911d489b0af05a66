#include "simulate/report/panel.hpp"

#include <cmath>
#include <cstddef>

namespace spillway::simulate {
namespace {

constexpr std::string_view kGrid = "#dde2e7";
constexpr std::string_view kFrame = "#b8c1ca";
constexpr double kTint = 0.25;  // opacity of a state behind the values

std::string move(double x, double y) { return 'M' + coordinate(x) + ' ' + coordinate(y); }
std::string across(double x) { return 'H' + coordinate(x); }
std::string up(double y) { return 'V' + coordinate(y); }

}  // namespace

Panel::Panel(Svg& svg, const Box& box, double seconds, const Span& values)
    : svg_(svg),
      box_(box),
      time_({0, seconds}, box.x, box.x + box.width),
      value_(values, box.y + box.height, box.y) {}

void Panel::background(const std::vector<StateSpan>& states, Label label, double warm_up) {
  const double right = box_.x + box_.width, bottom = box_.y + box_.height;
  for (const StateSpan& span : states) {
    if (span.state == State::normal) continue;
    svg_.rect(time_(span.from), box_.y, time_(span.to) - time_(span.from), box_.height,
              kStateColours[index(span.state)], kTint);
  }
  for (const double tick : value_.ticks(static_cast<int>(box_.height / 24))) {
    const double y = value_(tick);
    svg_.line(move(box_.x, y) + across(right), kGrid);
    svg_.text(box_.x - 6, y + 3.5, label(tick),
              {.size = 10.5, .colour = kMuted, .anchor = Anchor::end});
  }
  svg_.line(move(box_.x, box_.y) + up(bottom) + across(right), kFrame);
  if (warm_up > 0) svg_.line(move(time_(warm_up), box_.y) + up(bottom), kMuted, 1, true);
}

void Panel::time_axis() {
  const double y = box_.y + box_.height;
  const std::vector<double> ticks = time_.ticks(static_cast<int>(box_.width / 60));
  for (const double tick : ticks) {
    svg_.line(move(time_(tick), y) + up(y + 4), kFrame);
    svg_.text(time_(tick), y + 16, tick == ticks.back() ? duration_label(tick) : count_label(tick),
              {.size = 10.5, .colour = kMuted, .anchor = Anchor::middle});
  }
}

void Panel::area(const Values& values, std::string_view colour) {
  if (values.empty()) return;
  const double bottom = box_.y + box_.height;
  std::string path = move(box_.x, bottom);
  for (std::size_t i = 0; i < values.size(); ++i) path += up(value_(values[i])) + across(end(i));
  svg_.area(path + up(bottom) + 'Z', colour);
}

void Panel::steps(const Values& values, double line_width) {
  std::string path;
  bool is_drawing = false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) {
      const double y = value_(values[i]);
      path += (is_drawing ? up(y) : move(time_(static_cast<double>(i)), y)) + across(end(i));
    }
    is_drawing = std::isfinite(values[i]);
  }
  if (!path.empty()) svg_.line(path, kInk, line_width);
}

}  // namespace spillway::simulate
