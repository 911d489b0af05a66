// What is played: cells of the grid. A cell is a backend, a load and what happens meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace spillway::grid {

enum class Shape : std::uint8_t {
  steady,     // the load, all the time
  step,       // 0.85, then the load for 20 s, then 0.85
  ramp,       // from 0.5 to the load
  slow2,      // service times double for 20 s
  slow5,      // fivefold
  cut,        // 60 % of the slots are lost for 20 s
  thrash,     // each request above the knee costs as much as it brings
  mix_shift,  // requests of P1 become four times as dear, at the same load
  noisy,      // one of ten tenants of P1 asks for as much as the others together
  storm,      // ten times slower for 4 s, and clients that retry five times
};
inline constexpr std::size_t kShapes = 10;
std::string_view name(Shape shape);

struct Cell {
  Shape shape = Shape::steady;
  std::uint32_t slots = 16;
  Milliseconds service{20};
  double sigma = 0.5;
  bool has_tail = false;  // one request in a hundred takes ten times as long
  double load = 2;        // offered / capacity
  Milliseconds timeout{1000};

  bool operator==(const Cell&) const = default;
};

// "steady-p16-s20-g0.5-l2-t1000"; g0.5t with a tail.
std::string name(const Cell& cell);

// A third of all names, by their FNV-1a hash: laws are not tuned on these.
bool is_held_out(const Cell& cell);

// Requests per second at which all slots are busy, with requests of mean cost.
double capacity(const Cell& cell);

// How long a run is. Only what arrives after the warm-up counts.
struct Times {
  std::uint32_t warm_up = 20;                                     // seconds
  std::uint32_t measured = 60;                                    // seconds, after it
  std::uint32_t begin() const { return warm_up + measured / 4; }  // of a disturbance
  std::uint32_t end(Shape shape) const {                          // likewise
    return begin() + (shape == Shape::storm ? 4 : measured / 3);
  }
  std::uint32_t total() const { return warm_up + measured; }
};

// `each` cells of every shape, four times as many of the steady one: the same ones at each call,
// and the first ones of a larger sample. Over the cells of a shape every value of every axis comes
// equally often, in a seeded order. Where a cell of the cross product would make no sense or would
// be too large, it is replaced: steps, ramps and noisy tenants have loads above 1; a timeout below
// three service times becomes 1 s; a cell of more than `most` arrivals becomes one of the next
// longer service time, or lower parallelism.
std::vector<Cell> sample(std::size_t each, double most, const Times& times);

}  // namespace spillway::grid
