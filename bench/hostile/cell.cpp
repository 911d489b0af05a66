#include "bench/hostile/cell.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "bench/hostile/behaviour.hpp"
#include "bench/hostile/slowhttptest.hpp"

namespace spillway::hostile {
namespace {

using bench::Contender;
using bench::Program;

constexpr double kCounted = 5, kCountedQuick = 2;  // seconds
constexpr Milliseconds kWarmUp{1000}, kWarmUpQuick{500};
constexpr double kStartAndEnd = 0.8;  // seconds

struct Opponent {
  Contender contender;
  bool limits_addresses;  // has limits by address
};

constexpr std::array<Opponent, 6> kOpponents{{
    {{"spillway", Program::spillway, "overload-spillway.json"}, false},
    {{"spillway-auto", Program::spillway, "overload-spillway-auto.json"}, false},
    {{"nginx", Program::nginx, "hostile-nginx.conf"}, false},
    {{"nginx-hardened", Program::nginx, "hostile-nginx-hardened.conf"}, true},
    {{"haproxy", Program::haproxy, "hostile-haproxy.cfg"}, false},
    {{"haproxy-hardened", Program::haproxy, "hostile-haproxy-hardened.cfg"}, true},
}};

bool named(const std::vector<std::string>& names, std::string_view name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

template <class Known>
void check(const std::vector<std::string>& names, const Known& known) {
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw std::invalid_argument("there is no " + name);
  }
}

// The number of addresses that an attack comes from: the control and slowhttptest have no choice,
// and beside contenders without limits by address it makes no difference.
std::vector<std::size_t> addresses_of(const std::string& behaviour, const Opponent& opponent,
                                      const PlanOptions& options) {
  if (find_manner(behaviour) == nullptr) return {1};
  if (!options.addresses.empty()) return options.addresses;
  if (options.quick || !opponent.limits_addresses) return {kManyAddresses};
  return {kManyAddresses, 1};
}

}  // namespace

std::vector<std::string> behaviour_names() {
  std::vector<std::string> names{std::string(kNoAttack)};
  for (const Manner& manner : manners()) names.emplace_back(manner.name);
  for (const SlowMode& mode : slow_modes()) names.emplace_back(mode.name);
  return names;
}

std::vector<std::string_view> contender_names() {
  std::vector<std::string_view> names;
  for (const Opponent& opponent : kOpponents) names.push_back(opponent.contender.name);
  return names;
}

std::vector<Cell> plan(const PlanOptions& options) {
  check(options.behaviours, behaviour_names());
  check(options.contenders, contender_names());
  const double counted = options.seconds > 0 ? options.seconds
                         : options.quick     ? kCountedQuick
                                             : kCounted;
  std::vector<Cell> cells;
  for (int round = 1; round <= options.rounds; ++round) {
    for (const std::string& behaviour : behaviour_names()) {
      for (const Opponent& opponent : kOpponents) {
        if (!named(options.behaviours, behaviour)) continue;
        if (!named(options.contenders, opponent.contender.name)) continue;
        for (const std::size_t addresses : addresses_of(behaviour, opponent, options)) {
          cells.push_back({.contender = &opponent.contender,
                           .behaviour = behaviour,
                           .addresses = addresses,
                           .round = round,
                           .warm_up = options.quick ? kWarmUpQuick : kWarmUp,
                           .counted = from_seconds(counted),
                           .seed = options.seed + static_cast<std::uint64_t>(round) - 1});
        }
      }
    }
  }
  return cells;
}

double expected_seconds(const Cell& cell) {
  return to_seconds(cell.warm_up + cell.counted) + kStartAndEnd;
}

}  // namespace spillway::hostile
