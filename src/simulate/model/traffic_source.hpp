// The arrival process of one kind of clients, and the work of each request.
//
// Uses separate random streams, so that arrivals do not depend on outcomes: they are the same with
// and without shedding.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "simulate/scenario/scenario.hpp"

namespace spillway::simulate {

// The uses of randomness in a run; each has its own stream.
enum class Draws : std::uint8_t {
  arrivals,
  work,
  clients,
  decisions,
  failures,
  servers,
  keys,
  jobs,
  visitors
};

Random random_stream(std::uint64_t seed, Draws draws, std::uint64_t number);

double exponential(double mean, Random& random);
double lognormal(double mean, double sigma, Random& random);

class TrafficSource {
 public:
  struct Arrival {
    double at;  // seconds since the beginning of the run
    std::uint32_t tenant;
    double work;        // seconds
    std::uint32_t key;  // from 1; 0: its answer is unique
  };

  // `number`: index in the scenario's clients. Keeps a reference to the scenario.
  TrafficSource(const Scenario& scenario, std::uint32_t number);

  // The next arrival; nullopt: no more. A Poisson process with a variable rate: candidates at the
  // highest rate are thinned (Lewis, Shedler, "Simulation of nonhomogeneous Poisson processes by
  // thinning", Naval Research Logistics Quarterly, 1979).
  std::optional<Arrival> next();
  // The work of a request whose arrival is known: seconds.
  double draw_work();

 private:
  double rate_at(double seconds);
  std::uint32_t draw_key();

  const Clients& clients_;
  const Backend& backend_;
  Random arrivals_, work_, keys_;
  std::vector<double> up_to_key_;  // cumulative weights of the keys
  double at_;
  double until_;
  double peak_;  // requests per second
  bool bursting_ = false;
  double phase_ends_ = 0;  // of the burst or of the time between two
};

}  // namespace spillway::simulate
