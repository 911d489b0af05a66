// Places in the order in which they are taken again: what is inserted later stands behind what is
// of the same order.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "waiting/place/place.hpp"

namespace spillway::waiting {

inline std::vector<const Place*> by_tie(std::span<const Place> places) {
  std::vector<const Place*> sorted;
  sorted.reserve(places.size());
  for (const Place& place : places) sorted.push_back(&place);
  std::ranges::stable_sort(sorted, {}, [](const Place* place) { return place->tie; });
  return sorted;
}

}  // namespace spillway::waiting
