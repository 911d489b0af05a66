#include "bench/grid/cell.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

using namespace spillway;
using namespace spillway::grid;

namespace {

constexpr double kAnyNumber = 1e18;

std::size_t held_out(const std::vector<Cell>& cells) {
  return static_cast<std::size_t>(std::count_if(cells.begin(), cells.end(), is_held_out));
}

}  // namespace

TEST_CASE("every value of every axis occurs in the sample of each shape") {
  std::map<Shape, std::vector<Cell>> shapes;
  for (const Cell& cell : sample(12, kAnyNumber, {})) shapes[cell.shape].push_back(cell);
  CHECK(shapes.size() == kShapes);
  for (const auto& [shape, cells] : shapes) {
    CAPTURE(name(shape));
    std::set<std::uint32_t> slots;
    std::set<Milliseconds> services, timeouts;
    std::set<double> sigmas, loads;
    for (const Cell& cell : cells) {
      slots.insert(cell.slots);
      services.insert(cell.service);
      timeouts.insert(cell.timeout);
      sigmas.insert(cell.sigma);
      loads.insert(cell.load);
    }
    CHECK(cells.size() == (shape == Shape::steady ? 48 : 12));
    CHECK(slots.size() == 4);
    CHECK(services.size() == 3);
    CHECK(timeouts.size() == 2);
    CHECK(sigmas.size() == 4);
    CHECK(loads.size() == (*loads.begin() > 1 ? 4 : 6));
  }
}

TEST_CASE("a sample is the same each time, has no cell twice, and a smaller one is part of it") {
  const auto cells = sample(8, kAnyNumber, {});
  CHECK(cells == sample(8, kAnyNumber, {}));
  std::set<std::string> names;
  for (const Cell& cell : cells) names.insert(name(cell));
  CHECK(names.size() == cells.size());
  for (const Cell& cell : sample(3, kAnyNumber, {})) CHECK(names.count(name(cell)) == 1);
}

TEST_CASE("clients wait for three service times at least") {
  for (const Cell& cell : sample(12, kAnyNumber, {})) CHECK(cell.timeout >= 3 * cell.service);
}

TEST_CASE("a cell that would be too large becomes a slower one") {
  const Times times;
  double most = 0, most_unbounded = 0;
  for (const Cell& cell : sample(12, 1e6, times))
    most = std::max(most, capacity(cell) * cell.load * times.total());
  for (const Cell& cell : sample(12, kAnyNumber, times))
    most_unbounded = std::max(most_unbounded, capacity(cell) * cell.load * times.total());
  CHECK(most <= 1e6);
  CHECK(most_unbounded > 5e7);
}

TEST_CASE("about a third is held out, by the name alone") {
  const auto cells = sample(16, kAnyNumber, {});
  const double part = static_cast<double>(held_out(cells)) / static_cast<double>(cells.size());
  CHECK(part > 0.25);
  CHECK(part < 0.42);
  Cell cell = cells.front();
  const bool before = is_held_out(cell);
  CHECK(is_held_out(Cell(cell)) == before);
}

TEST_CASE("a name has all axes") {
  CHECK(name(Cell{}) == "steady-p16-s20-g0.5-l2-t1000");
  CHECK(name({.shape = Shape::mix_shift,
              .slots = 4,
              .service = Milliseconds{2},
              .sigma = 0.5,
              .has_tail = true,
              .load = 1.2,
              .timeout = Milliseconds{150}}) == "mix-shift-p4-s2-g0.5t-l1.2-t150");
}
