// A discrete-event simulation of one upstream behind the real decision core: Controller, decide()
// and Scheduler on a virtual clock. Poisson arrivals of three classes,
// lognormal service on as many servers as there are slots.
#pragma once

#include <array>
#include <cstdint>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "config/config.hpp"

namespace spillway::control {

enum class Shedding : std::uint8_t {
  off,
  naive,            // negative control: a rule's denial is final whether or not slots are free
  work_conserving,  // as the proxy does it
};

struct Setup {
  double load = 1;                           // offered / capacity
  std::array<double, 3> mix{0.1, 0.3, 0.6};  // of the offered load
  Duration service = std::chrono::milliseconds(20);
  double sigma = 0.5;  // of the logarithm of the service time
  Shedding shedding = Shedding::work_conserving;
  bool gate_knows_patience = true;  // false: clients give up after max_wait, the gate is not told
  Duration warm_up = std::chrono::seconds(5);
  Duration duration = std::chrono::seconds(60);  // counted after the warm-up
  std::uint64_t seed = 1;
  config::Config config;

  Setup();  // 16 slots, the default classes and rules
};

struct ClassResult {
  std::uint64_t offered = 0;
  std::uint64_t served = 0;     // by the upstream, in time
  std::uint64_t denied = 0;     // by a rule, at once
  std::uint64_t wait_risk = 0;  // by the prediction, at once
  std::uint64_t queue_full = 0;
  std::uint64_t gave_up = 0;  // timed out in the queue
  std::uint64_t evicted = 0;
  double wait_seconds_wasted = 0;  // by those who gave up
  Duration longest_wait{0};        // of those served

  double success() const { return offered == 0 ? 1 : double(served) / double(offered); }
};

struct Result {
  std::array<ClassResult, 3> classes;
  double goodput = 0;          // served / what the servers could have
  double time_overloaded = 0;  // share
  int transitions = 0;
  std::uint64_t refused_beside_free_slot = 0;
  double predicted_seconds = 0, waited_seconds = 0;  // sums over those predicted and served
};

Result simulate(const Setup& setup);

}  // namespace spillway::control
