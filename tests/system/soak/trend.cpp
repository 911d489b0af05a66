#include "system/soak/trend.hpp"

#include <algorithm>
#include <cstddef>

namespace spillway::soak {

double slope(std::span<const Point> points) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      const double run = points[j].x - points[i].x;
      if (run != 0) slopes.push_back((points[j].y - points[i].y) / run);
    }
  }
  if (slopes.empty()) return 0;
  const auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
  std::nth_element(slopes.begin(), middle, slopes.end());
  return *middle;
}

std::span<const Point> second_half(std::span<const Point> points) {
  return points.subspan(points.size() / 2);
}

bool is_flat(std::span<const Point> points) {
  const auto half = second_half(points);
  if (half.empty()) return true;
  const double rate = slope(half);
  return rate < kMostBytesPerRequest || rate * (half.back().x - half.front().x) < kMostBytes;
}

bool is_level(std::span<const Point> points) {
  const auto half = second_half(points);
  if (half.empty()) return true;
  return slope(half) * (half.back().x - half.front().x) <= 20 + half.front().y / 4;
}

}  // namespace spillway::soak
