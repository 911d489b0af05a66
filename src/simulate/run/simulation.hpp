// Runs a scenario on a virtual clock: clients, Spillway, backend.
#pragma once

#include <cstdint>
#include <functional>

#include "simulate/recording/recording.hpp"
#include "simulate/scenario/scenario.hpp"

namespace spillway::simulate {

// Called after each simulated second, counted from 1.
using Progress = std::function<void(std::uint32_t seconds)>;

// Deterministic. Without shedding every request goes straight to the backend. First attempts arrive
// at the same times with and without shedding; retries depend on outcomes.
Recording simulate(const Scenario& scenario, bool shedding, const Progress& progress = {});

}  // namespace spillway::simulate
