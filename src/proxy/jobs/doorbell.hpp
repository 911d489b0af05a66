// Wakes a thread that waits for a signal, or for a descriptor to become readable.
#pragma once

#include "base/time.hpp"

namespace spillway::proxy {

class Doorbell {
 public:
  Doorbell();  // throws std::system_error if there are no descriptors
  ~Doorbell();
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  // Any thread. If no thread is waiting, the next wait ends at once.
  void ring();
  // Waits until it rings, the descriptor (-1: none) is readable or closed, or the time has come.
  // May return early.
  void wait(int descriptor, TimePoint until);

 private:
  int descriptor_;
};

}  // namespace spillway::proxy
