#include "bench/grid/cell.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/random.hpp"
#include "simulate/model/client_model.hpp"

namespace spillway::grid {
namespace {

constexpr std::array<std::string_view, kShapes> kNames{
    "steady", "step", "ramp", "slow2", "slow5", "cut", "thrash", "mix-shift", "noisy", "storm"};

struct Spread {
  double sigma;
  bool has_tail;
};
constexpr std::array<std::uint32_t, 4> kSlots{4, 16, 64, 256};
constexpr std::array<int, 3> kService{2, 20, 200};
constexpr std::array<Spread, 4> kSpreads{
    Spread{0.3, false}, {0.6, false}, {1.0, false}, {0.5, true}};
constexpr std::array<double, 6> kLoads{0.7, 0.95, 1.2, 2, 4, 10};
constexpr std::array<double, 4> kOverloads{1.2, 2, 4, 10};
constexpr std::array<int, 2> kTimeouts{1000, 150};
constexpr double kShortestTimeout = 3;  // service times

// The values of an axis again and again, each round in an order of its own.
template <class T, std::size_t N>
class Axis {
 public:
  Axis(const std::array<T, N>& values, std::uint64_t seed) : values_(values), random_(seed) {}

  T next() {
    if (at_ == 0) {
      for (std::size_t i = N - 1; i > 0; --i)
        std::swap(values_[i], values_[random_.next() % (i + 1)]);
    }
    const T value = values_[at_];
    at_ = (at_ + 1) % N;
    return value;
  }

 private:
  std::array<T, N> values_;
  Random random_;
  std::size_t at_ = 0;
};

double arrivals(const Cell& cell, const Times& times) {
  const double again = cell.shape == Shape::storm && cell.load > 1 ? 3 : 1;
  return capacity(cell) * cell.load * again * times.total();
}

void shrink(Cell& cell, double most, const Times& times) {
  while (arrivals(cell, times) > most) {
    if (cell.service < Milliseconds{kService.back()}) {
      cell.service *= 10;
    } else if (cell.slots > kSlots.front()) {
      cell.slots /= 4;
    } else {
      break;
    }
  }
  if (cell.timeout < kShortestTimeout * cell.service)
    cell.timeout = Milliseconds{kTimeouts.front()};
}

bool needs_overload(Shape shape) {
  return shape == Shape::step || shape == Shape::ramp || shape == Shape::noisy;
}

void sample(Shape shape, std::size_t count, double most, const Times& times,
            std::vector<Cell>& out) {
  const std::uint64_t seed = Random(index(shape) + 1).next();
  Axis slots(kSlots, seed + 1);
  Axis service(kService, seed + 2);
  Axis spreads(kSpreads, seed + 3);
  Axis loads(kLoads, seed + 4);
  Axis overloads(kOverloads, seed + 5);
  Axis timeouts(kTimeouts, seed + 6);
  const std::size_t enough = out.size() + count;
  for (std::size_t tries = 0; out.size() < enough && tries < 10 * count; ++tries) {
    const Spread spread = spreads.next();
    Cell cell{.shape = shape,
              .slots = slots.next(),
              .service = Milliseconds{service.next()},
              .sigma = spread.sigma,
              .has_tail = spread.has_tail,
              .load = needs_overload(shape) ? overloads.next() : loads.next(),
              .timeout = Milliseconds{timeouts.next()}};
    shrink(cell, most, times);
    if (std::find(out.begin(), out.end(), cell) == out.end()) out.push_back(cell);
  }
}

}  // namespace

std::string_view name(Shape shape) { return kNames[index(shape)]; }

std::string name(const Cell& cell) {
  return fmt::format("{}-p{}-s{}-g{:g}{}-l{:g}-t{}", name(cell.shape), cell.slots,
                     cell.service.count(), cell.sigma, cell.has_tail ? "t" : "", cell.load,
                     cell.timeout.count());
}

bool is_held_out(const Cell& cell) {
  return Random(simulate::tenant_hash(name(cell))).next() % 3 == 0;
}

double capacity(const Cell& cell) {
  const double tail = cell.has_tail ? 1.09 : 1;
  return cell.slots / (to_seconds(cell.service) * tail);
}

std::vector<Cell> sample(std::size_t each, double most, const Times& times) {
  std::vector<Cell> out;
  for (std::size_t i = 0; i < kShapes; ++i) {
    const auto shape = static_cast<Shape>(i);
    sample(shape, shape == Shape::steady ? 4 * each : each, most, times, out);
  }
  return out;
}

}  // namespace spillway::grid
