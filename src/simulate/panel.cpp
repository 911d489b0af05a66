#include "simulate/panel.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "simulate/palette.hpp"

namespace spillway::simulate {
namespace {

constexpr double kTickSize = 10.5;
constexpr double kPixelsPerTick = 24;

std::string along(char command, double value) { return command + coordinate(value); }

}  // namespace

Panel::Panel(Svg& svg, const Box& box, double seconds, const Scale& values)
    : svg_(svg),
      box_(box),
      time_(Scale::linear(seconds, box.x, box.x + box.width)),
      values_(values) {}

Scale Panel::linear(const Box& box, double top) {
  return Scale::linear(top, box.y + box.height, box.y);
}

Scale Panel::logarithmic(const Box& box, double low, double high) {
  return Scale::logarithmic(low, high, box.y + box.height, box.y);
}

void Panel::background(const std::vector<StateSpan>& spans, Label label) {
  for (const StateSpan& span : spans) {
    if (span.state == State::normal) continue;
    svg_.element("rect", {{"x", x(span.from)},
                          {"y", box_.y},
                          {"width", x(span.to) - x(span.from)},
                          {"height", box_.height},
                          {"fill", palette::tint(span.state)}});
  }
  for (const double tick : values_.ticks(static_cast<int>(box_.height / kPixelsPerTick))) {
    const double y = values_(tick);
    svg_.element("path", {{"d", along('M', box_.x) + along(' ', y) + along('h', box_.width)},
                          {"stroke", palette::kGrid},
                          {"stroke-width", 1}});
    svg_.text(box_.x - 6, y + 3.5, label(tick),
              {.size = kTickSize, .colour = palette::kMuted, .anchor = Anchor::end});
  }
  svg_.element("path", {{"d", along('M', box_.x) + along(' ', box_.y) + along('v', box_.height) +
                                  along('h', box_.width)},
                        {"fill", "none"},
                        {"stroke", palette::kFrame},
                        {"stroke-width", 1}});
}

void Panel::warm_up(double seconds) {
  if (!(seconds > 0)) return;
  svg_.element("path",
               {{"d", along('M', x(seconds)) + along(' ', box_.y) + along('v', box_.height)},
                {"stroke", palette::kMuted},
                {"stroke-width", 1},
                {"stroke-dasharray", "3 3"}});
}

void Panel::time_axis() {
  const double y = box_.y + box_.height;
  const std::vector<double> ticks = time_.ticks(static_cast<int>(box_.width / 60));
  for (const double tick : ticks) {
    svg_.element("path", {{"d", along('M', x(tick)) + along(' ', y) + "v4"},
                          {"stroke", palette::kFrame},
                          {"stroke-width", 1}});
    const bool last = tick == ticks.back();
    svg_.text(x(tick), y + 16, last ? duration_label(tick) : count_label(tick),
              {.size = kTickSize, .colour = palette::kMuted, .anchor = Anchor::middle});
  }
}

void Panel::area(const std::vector<double>& lower, const std::vector<double>& upper,
                 std::string_view colour) {
  const std::size_t count = std::min(lower.size(), upper.size());
  if (count == 0) return;
  std::string path = along('M', x(0)) + along(' ', values_(lower[0]));
  for (std::size_t i = 0; i < count; ++i) {
    path += along('V', values_(upper[i])) + along('H', x(static_cast<double>(i + 1)));
  }
  for (std::size_t i = count; i-- > 0;) {
    path += along('V', values_(lower[i])) + along('H', x(static_cast<double>(i)));
  }
  svg_.element("path", {{"d", path + 'Z'}, {"fill", colour}});
}

void Panel::steps(const std::vector<double>& values, std::string_view colour, double width) {
  std::string path;
  bool drawing = false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      drawing = false;
      continue;
    }
    const double y = values_(values[i]);
    path += drawing ? along('V', y) : along('M', x(static_cast<double>(i))) + along(' ', y);
    path += along('H', x(static_cast<double>(i + 1)));
    drawing = true;
  }
  if (path.empty()) return;
  svg_.element("path", {{"d", path},
                        {"fill", "none"},
                        {"stroke", colour},
                        {"stroke-width", width},
                        {"stroke-linejoin", "round"}});
}

}  // namespace spillway::simulate
