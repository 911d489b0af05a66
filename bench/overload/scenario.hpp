// A scenario of overload: the backend, its disturbance, the load, and the contenders.
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

// A degradation of the backend for a while.
struct Disturbance {
  double slots = 1;  // fraction of its slots that are left
  double speed = 1;  // fraction of its speed, for work that begins meanwhile
  double seconds = 40;
  double quick_seconds = 1.5;
};

using Names = std::vector<std::string_view>;

// Loads are offered / capacity. The defaults suit a disturbance below capacity.
struct Scenario {
  std::string_view name;
  std::string_view sentence;
  std::vector<double> loads{0.7};
  Names contenders{"haproxy-tuned", "spillway"};  // compared: each load three times
  std::vector<double> other_loads{0.7};           // of the others, for orientation: once
  Names others{"direct", "nginx-limit", "nginx-tuned"};
  std::vector<double> quick_loads{0.7};
  Names quick_contenders{"haproxy-tuned", "spillway"};
  std::size_t slots = 16;
  double told = 1;          // the number of slots that proxies are told / the true one
  double warm_up_load = 0;  // in the first phase; 0: the same as after it
  std::optional<Disturbance> disturbance{};
  load::Retries retries{};
  load::Reads reads{};
  load::Tail tail{};
  std::size_t thrash = 0;
  bool noisy = false;  // ten tenants share P1, and one sends more than all others together
  bool judges_purchases = false;  // the record needs enough of P0, too
  bool usual = true;              // part of a run without --scenario
};

std::span<const Scenario> scenarios();
const Scenario* find_scenario(std::string_view name);  // nullptr: there is none

inline constexpr Milliseconds kService{20};
inline constexpr double kSigma = 0.5;

load::BackendOptions backend_of(const Scenario& scenario, std::uint64_t seed);

// Capacity of its backend in requests a second: slots / mean service time.
double capacity_rps(const Scenario& scenario);

// The kinds of requests and tenants at that load, with their shares.
std::vector<load::Source> sources_of(const Scenario& scenario, double load);

// Tenants of a noisy scenario: 1 to 9 send little, the tenth the rest.
inline constexpr std::uint8_t kQuietTenants = 9;
inline constexpr std::uint8_t kNoisyTenant = 10;

}  // namespace spillway::bench
