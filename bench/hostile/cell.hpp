// The cells of a run: one attack on one contender each, and how long it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "bench/overload/contender.hpp"

namespace spillway::hostile {

inline constexpr std::string_view kNoAttack = "none";  // the control

// Honest requests a second: with 20 ms each 5 of 16 workers are busy. So few that without an attack
// hardly one in 10 000 finds all of them busy (Erlang's loss formula), which a proxy without a
// queue would refuse.
inline constexpr double kP0PerSecond = 200;
inline constexpr double kP1PerSecond = 50;
inline constexpr std::size_t kManyAddresses = 100;

struct Cell {
  const bench::Contender* contender = nullptr;
  std::string behaviour;      // kNoAttack, of manners() or of slow_modes()
  std::size_t addresses = 1;  // that the attack comes from
  int round = 1;
  Duration warm_up{};  // without the attack
  Duration counted{};  // from its beginning
  std::uint64_t seed = 1;
};

struct PlanOptions {
  bool quick = false;
  std::vector<std::string> behaviours;  // empty: all
  std::vector<std::string> contenders;  // empty: all
  std::vector<std::size_t> addresses;   // empty: many, and one where that can make a difference
  int rounds = 1;
  double seconds = 0;  // counted in each cell; 0: what the run has
  std::uint64_t seed = 1;
};

// Behaviour by behaviour, so that the contenders meet the same one within a minute. Throws
// std::invalid_argument for a name that there is not.
std::vector<Cell> plan(const PlanOptions& options);

double expected_seconds(const Cell& cell);

std::vector<std::string> behaviour_names();
std::vector<std::string_view> contender_names();

}  // namespace spillway::hostile
