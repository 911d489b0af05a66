// Runs a scenario on a virtual clock: clients, Spillway, backend.
#pragma once

#include <cstdint>
#include <functional>

#include "simulate/recording.hpp"
#include "simulate/scenario.hpp"

namespace spillway::simulate {

// Told of each second that is over, counted from 1.
using Progress = std::function<void(std::uint32_t seconds)>;

// The same scenario gives the same recording. Without shedding every request goes straight to the
// backend; the same requests come at the same times (retries depend on what became of them).
Recording simulate(const Scenario& scenario, bool shedding, const Progress& progress = {});

}  // namespace spillway::simulate
