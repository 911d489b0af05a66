// One plotting area of a picture: values over time on a background of states.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/state.hpp"
#include "simulate/report/axis.hpp"
#include "simulate/report/states.hpp"
#include "simulate/report/svg.hpp"

namespace spillway::simulate {

inline constexpr std::string_view kInk = "#1f2933";
inline constexpr std::string_view kMuted = "#5f6b76";
inline constexpr std::array<std::string_view, kStateCount> kStateColours{"#e8ecf0", "#f0e442",
                                                                         "#e69f00", "#d55e00"};

// In user units, from the upper left corner.
struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

// One value per second; NaN: none in that second.
using Values = std::vector<double>;

class Panel {
 public:
  using Label = std::string (*)(double);

  // The width of the box stands for `seconds`, its height for `values`.
  Panel(Svg& svg, const Box& box, double seconds, const Span& values);

  // Drawn behind the values: states, ticks, labels, frame, a dashed line at the end of the warm-up.
  void background(const std::vector<StateSpan>& states, Label label, double warm_up);
  void time_axis();

  void area(const Values& values, std::string_view colour);  // from the lower edge up to the values
  void steps(const Values& values, double line_width);

 private:
  double end(std::size_t second) const { return time_(static_cast<double>(second + 1)); }

  Svg& svg_;
  Box box_;
  Axis time_, value_;
};

}  // namespace spillway::simulate
