// The instants at which requests are due, fixed before the first one is sent.
//
// Open loop: a slow answer never delays the next request, as with real users who do not
// know of one another (Schroeder, Wierman, Harchol-Balter, "Open Versus Closed: A Cautionary
// Tale", NSDI 2006). The same seed gives the same schedule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/time.hpp"

namespace spillway::load {

struct Phase {
  std::string name;
  Duration length{};
  double rate = 0;  // arrivals per second of all kinds together, >= 0
};

// How many of the reads ask for a page, which a cache may store.
struct Reads {
  double cacheable = 0;       // share of the reads, [0, 1]
  std::uint32_t pages = 500;  // distinct ones of each kind, at least 1
};

// A kind of request of one tenant, and its share.
struct Source {
  std::uint8_t kind = 0;
  std::uint8_t tenant = 0;  // 0: none
  double share = 0;         // of all arrivals; the shares add up to 1
};

// The kinds by their shares, of no tenant.
std::vector<Source> usual_mix();

struct Arrival {
  Duration at{};  // since the start of the first phase
  std::uint8_t kind = 0;
  std::uint8_t phase = 0;
  std::uint32_t page = 0;  // 0: none
  std::uint8_t tenant = 0;
};

// Poisson arrivals over the phases, in order of time; the source of each is drawn by its share, its
// page as `reads` says. Instants and kinds are the same whatever `reads` says.
std::vector<Arrival> schedule(std::span<const Phase> phases, std::uint64_t seed,
                              const Reads& reads = {},
                              const std::vector<Source>& sources = usual_mix());

// How many arrivals schedule() will give on average.
double expected_arrivals(std::span<const Phase> phases);

Duration total_length(std::span<const Phase> phases);

}  // namespace spillway::load
