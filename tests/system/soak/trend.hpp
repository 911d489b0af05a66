// Whether something grows that should not: a robust slope, so that one spike says nothing.
#pragma once

#include <span>
#include <vector>

namespace spillway::soak {

struct Point {
  double x = 0;
  double y = 0;
};

// The median of the slopes between all pairs of points with different x (Theil, "A rank-invariant
// method of linear and polynomial regression analysis", 1950; Sen, "Estimates of the regression
// coefficient based on Kendall's tau", JASA 1968). Up to 29 % of the points may be anything. 0 if
// there are not two points.
double slope(std::span<const Point> points);

// The second half, in which whatever warms up is warm.
std::span<const Point> second_half(std::span<const Point> points);

// A process is as large at the end as in the middle if it does not grow by so many bytes with each
// request: the smallest thing that is worth leaking is larger.
inline constexpr double kMostBytesPerRequest = 50;
// What the buffers of those who happen to be connected make up, whatever the number of requests. A
// leak of 100 bytes is above it from 42 000 requests on, in the second half.
inline constexpr double kMostBytes = 4 * 1024 * 1024;

// `points` are requests and bytes. True when the second half grows by less than one of these.
bool is_flat(std::span<const Point> points);

// `points` are times and open files, which come and go with the clients. True when the second half
// does not rise by a quarter and 20 more.
bool is_level(std::span<const Point> points);

}  // namespace spillway::soak
