// How large the modelled backend is, and how much load it is offered.
//
// A scenario is a shape: how many slots the backend has per unit of `concurrency`, and how
// much work is offered per slot. Run with another configuration, a built-in scenario keeps its
// shape and takes its size from that configuration; sizes given on the command line take
// precedence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "config/problem.hpp"
#include "simulate/recording/recording.hpp"
#include "simulate/scenario/scenario.hpp"

namespace spillway::simulate {

// The sizes given on the command line; unset: not given.
struct Told {
  std::optional<std::uint32_t> slots;   // of the backend, at least 1
  std::optional<Milliseconds> service;  // mean, at least 1 ms
  std::optional<double> rate;           // new requests per second, all clients, mean over the run

  bool any() const { return slots || service || rate; }
};

// Gives the scenario the told size. Values not told: with `former_concurrency`, that of the
// configuration it was written for, slots scale by the factor by which `concurrency` has grown;
// "auto" names no size, and changes none. The rates follow the capacity. Slots, knee and rates of
// all changes and clients are scaled; times are not, except a request's time in the event loop, so
// that the load of the loop follows the backend's. Returns a description for people; empty: nothing
// was changed.
std::string resize(Scenario& scenario, std::optional<std::uint32_t> former_concurrency,
                   const Told& told);

// Turns a backend of one server into one with the upstream's number, with equal parts of its slots.
void share_slots(Scenario& scenario, std::size_t servers);

// The size of the scenario as it is now, without changes over time and without retries.
Size size_of(const Scenario& scenario);

// The same as one line of text, without a line break.
std::string about(const Size& size);

// The 95th percentile of the service time without any queue, in seconds, all clients together.
double unloaded_p95(const Scenario& scenario);

// Mismatches between the configuration and the backend that it is simulated with, each with the
// configuration's key. `knows_slots`: the number of slots was told, on the command line or by the
// user's own scenario.
config::Problems contradictions(const Scenario& scenario, bool knows_slots);

// The bound of a limit that is found, if it is below the backend's slots: "auto" stands for the
// actual number of slots, so this is a mismatch even if the scenario keeps its own configuration.
std::optional<config::Problem> bound_below_slots(const Scenario& scenario);

}  // namespace spillway::simulate
