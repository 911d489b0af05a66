// What attacks a proxy for the time of a cell.
#pragma once

#include "bench/hostile/usage.hpp"

namespace spillway::hostile {

class Attacker {
 public:
  virtual ~Attacker() = default;

  virtual void start() = 0;
  // Ends the attack; afterwards none of its connections is open.
  virtual Usage stop() = 0;
};

}  // namespace spillway::hostile
