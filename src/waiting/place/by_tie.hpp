// Sorts places for recovery: Line puts a slot behind those of the same order, so of places with the
// same order the earlier one has to be inserted first.
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
