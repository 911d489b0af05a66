// Interface that receives the outcome of each attempt and request of a load.
#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "bench/load/arrivals.hpp"
#include "bench/load/ending.hpp"

namespace spillway::load {

struct Attempt {
  const Arrival& arrival;
  std::uint32_t number = 1;  // 1: the first
  Duration due{};            // when it was to be sent, since the start; of the first: arrival.at
};

class Observer {
 public:
  virtual ~Observer() = default;

  // The attempt is sent now, `late` after it was due.
  virtual void sent(const Attempt& attempt, Duration late) = 0;
  // It ended `took` after it was due. `again`: the client will try once more.
  virtual void ended(const Attempt& attempt, const Ending& ending, Duration took, bool again) = 0;
};

}  // namespace spillway::load
