// When the clients of one kind send new requests, and how much work each is.
//
// Draws from random sources of its own, so that what becomes of its requests changes nothing: with
// and without shedding the same requests come.
#pragma once

#include <cstdint>
#include <optional>

#include "base/random.hpp"
#include "simulate/scenario.hpp"

namespace spillway::simulate {

// The parts of a run that draw; each has a stream of its own.
enum class Draws : std::uint8_t { arrivals, work, clients, decisions };

Random random_stream(std::uint64_t seed, Draws draws, std::uint64_t number);

double exponential(double mean, Random& random);
double lognormal(double mean, double sigma, Random& random);

class TrafficSource {
 public:
  struct Arrival {
    double at;  // seconds since the beginning of the run
    std::uint32_t tenant;
    double work;  // seconds
  };

  // `number` of the scenario's clients. Keeps a reference to the scenario.
  TrafficSource(const Scenario& scenario, std::uint32_t number);

  // The next one; nullopt when no more come. Poisson with a rate that may change: candidates at the
  // highest rate, thinned (Lewis, Shedler, "Simulation of nonhomogeneous Poisson processes by
  // thinning", Naval Research Logistics Quarterly, 1979).
  std::optional<Arrival> next();

 private:
  double rate_at(double seconds);
  double draw_work();

  const Clients& clients_;
  const Backend& backend_;
  Random arrivals_, work_;
  double at_;
  double until_;
  double peak_;  // requests per second
  bool bursting_ = false;
  double phase_ends_ = 0;  // of the burst or of the time between two
};

// Seconds of a server that an average request of the backend costs.
double mean_work(const Backend& backend);

}  // namespace spillway::simulate
