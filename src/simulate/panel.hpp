// One plotting area over time, and what is drawn in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulate/scale.hpp"
#include "simulate/states.hpp"
#include "simulate/svg.hpp"

namespace spillway::simulate {

// In user units, from the upper left corner.
struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

class Panel {
 public:
  using Label = std::string (*)(double);

  // Time runs from 0 to `seconds` over the box's width.
  Panel(Svg& svg, const Box& box, double seconds, const Scale& values);

  // A scale from the box's lower to its upper edge.
  static Scale linear(const Box& box, double top);
  static Scale logarithmic(const Box& box, double low, double high);

  // Behind everything else: the states as tints, ticks with their labels, and the frame.
  void background(const std::vector<StateSpan>& spans, Label label);
  // A dashed line where the warm-up ends.
  void warm_up(double seconds);
  // The seconds below the panel.
  void time_axis();

  // A value per second. What lies between two of them as a filled area of steps.
  void area(const std::vector<double>& lower, const std::vector<double>& upper,
            std::string_view colour);
  // A line of steps, broken where a value is not finite.
  void steps(const std::vector<double>& values, std::string_view colour, double width);

 private:
  double x(double second) const { return time_(second); }

  Svg& svg_;
  Box box_;
  Scale time_;
  Scale values_;
};

}  // namespace spillway::simulate
