// How large the modelled backend is, and how much is asked of it.
//
// A scenario is a shape: how many slots the backend has for each one that `concurrency` names, and
// how much work is offered for each slot. Played with another configuration a built-in scenario
// keeps its shape and takes its size from that configuration; what the command line tells goes
// before both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "config/problem.hpp"
#include "simulate/recording/recording.hpp"
#include "simulate/scenario/scenario.hpp"

namespace spillway::simulate {

// What the command line says of the backend and its clients; unset: not told.
struct Told {
  std::optional<std::uint32_t> slots;   // of the backend, at least 1
  std::optional<Milliseconds> service;  // mean, at least 1 ms
  std::optional<double> rate;           // new requests per second, all clients, mean over the run

  bool any() const { return slots || service || rate; }
};

// Gives the scenario the told size. What is not told: with `former_concurrency`, that of the
// configuration it was written for, the slots become so many times as large as `concurrency` has
// become; "auto" names no size, and changes none. The rates follow the capacity. Slots, knee and
// rates of all changes and clients are scaled; times are not, but for what a request takes of the
// event loop, whose load stays like the backend's. Returns what was done, for people; empty:
// nothing.
std::string resize(Scenario& scenario, std::optional<std::uint32_t> former_concurrency,
                   const Told& told);

// Makes a backend of one server one of as many as the upstream has, with equal parts of its slots.
void share_slots(Scenario& scenario, std::size_t servers);

// The size of the scenario as it is now. Changes over time are left out; retries likewise.
Size size_of(const Scenario& scenario);

// The same in a line, without a line break.
std::string about(const Size& size);

// The 95th percentile of the service time without any queue, in seconds, all clients together.
double unloaded_p95(const Scenario& scenario);

// What of the configuration does not fit to the backend that it is played against, each with the
// key of the configuration that it is about. `knows_slots`: the number of slots was told, by the
// command line or by a scenario of the user's own.
config::Problems contradictions(const Scenario& scenario, bool knows_slots);

// The bound of a limit that is found, if it is below the backend's slots: "auto" stands for the
// slots that there are, so it is one of these also where the scenario keeps its own.
std::optional<config::Problem> bound_below_slots(const Scenario& scenario);

}  // namespace spillway::simulate
