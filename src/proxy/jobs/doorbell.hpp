// Wakes a thread that waits to be told something, or for a descriptor to become readable.
#pragma once

#include "base/time.hpp"

namespace spillway::proxy {

class Doorbell {
 public:
  Doorbell();  // throws std::system_error without descriptors
  ~Doorbell();
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  // By any thread. A ring that nobody waits for ends the next wait.
  void ring();
  // Until it rings, the descriptor (-1: none) is readable or closed, or the time has come. May
  // return early.
  void wait(int descriptor, TimePoint until);

 private:
  int descriptor_;
};

}  // namespace spillway::proxy
