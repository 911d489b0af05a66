// What is played: a backend, what becomes of it meanwhile, who asks it for how much, and who stands
// in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bench/load/arrivals.hpp"
#include "bench/load/backend.hpp"
#include "bench/load/retries.hpp"

namespace spillway::bench {

// What happens to the backend for a while.
struct Disturbance {
  double slots = 1;  // of its slots are left
  double speed = 1;  // of its speed is left, for what is begun meanwhile
  double seconds = 40;
  double quick_seconds = 1.5;
};

struct Scenario {
  std::string_view name;
  std::string_view sentence;
  std::vector<double> loads;                 // offered / capacity
  std::vector<std::string_view> contenders;  // that are compared: each load three times
  std::vector<double> other_loads;           // of those who show what else there is: once
  std::vector<std::string_view> others;
  std::vector<double> quick_loads;
  std::vector<std::string_view> quick_contenders;
  std::size_t slots = 16;
  double told = 1;          // the number of slots that proxies are told / the true one
  double warm_up_load = 0;  // in the first phase; 0: the same as after it
  std::optional<Disturbance> disturbance{};
  load::Retries retries{};
  load::Reads reads{};
  load::Tail tail{};
  std::size_t thrash = 0;
  bool noisy = false;  // ten tenants share P1, of which one asks for more than all others together
  bool judges_purchases = false;  // the record needs enough of P0, too
  bool usual = true;              // played when no scenario is named
};

std::span<const Scenario> scenarios();
const Scenario* find_scenario(std::string_view name);  // nullptr: there is none

inline constexpr Milliseconds kService{20};
inline constexpr double kSigma = 0.5;

load::BackendOptions backend_of(const Scenario& scenario, std::uint64_t seed);

// Requests a second that its backend can do: slots / mean service time.
double capacity_rps(const Scenario& scenario);

// Who sends what at that load.
std::vector<load::Source> sources_of(const Scenario& scenario, double load);

// Tenants of a noisy scenario: 1 to 9 ask for little, the tenth for the rest.
inline constexpr std::uint8_t kQuietTenants = 9;
inline constexpr std::uint8_t kNoisyTenant = 10;

}  // namespace spillway::bench
