// The words and figures around the panels of a plot. Each function draws below `y` and returns
// where the next thing may begin.
#pragma once

#include "simulate/recording.hpp"
#include "simulate/svg.hpp"

namespace spillway::simulate {

// Where a caption stands: from `x` on, `width` wide.
struct Place {
  double x = 0;
  double y = 0;
  double width = 0;
};

// The scenario, its sentence, and what the figures are about.
double heading(Svg& svg, const Place& place, const Recording& recording);

// What lines, areas and tints mean.
double legend(Svg& svg, const Place& place);

// The name of a run and its most telling figures, large.
double key_figures(Svg& svg, const Place& place, const Recording& recording);

// A strip of the states over time, and below it how long each reason lasted. The strip covers
// `seconds`, of which the run may have had fewer.
double state_strip(Svg& svg, const Place& place, const Recording& recording, double seconds);

// A line for each class, and for each of the busiest tenants.
double class_table(Svg& svg, const Place& place, const Recording& recording);
double tenant_table(Svg& svg, const Place& place, const Recording& recording);

}  // namespace spillway::simulate
