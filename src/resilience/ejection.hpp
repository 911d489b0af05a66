// Passive ejection: a server that fails several times in a row, while others do not, is left out
// for a time; twice as long each time again. Unlike a circuit breaker, which one caller keeps for
// itself and which refuses, this is judged over all callers and moves their requests elsewhere: so
// only a share of the servers may be out at a time, and who asks may ask an ejected one all the
// same when there is no other.
//
// Who comes back is on probation: its first failure ejects it again, its first success ends that.
// One doubling is forgotten for each `base` that passes after an ejection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "resilience/server_set.hpp"

namespace spillway::resilience {

struct EjectionLimits {
  std::uint32_t consecutive_failures = 5;  // that eject; 0: nothing does
  Duration base = std::chrono::seconds(10);
  Duration max = std::chrono::seconds(300);
  std::size_t most = 0;  // servers ejected at a time
};

// How many of so many servers may be ejected at a time: the share of them, rounded down. Anything
// but a number from 0 to 1 is taken for the nearest of these; NaN for 0.
std::size_t most_ejected(double ratio, std::size_t servers);

// All servers of one upstream, at most ServerSet::kMost. One owner; does not allocate after it was
// made.
class Ejections {
 public:
  enum class Change : std::uint8_t {
    none,
    ejected,
    back,  // the first success after an ejection
  };

  Ejections(const EjectionLimits& limits, std::size_t servers);

  // How a call ended. Those that end while the server is ejected began before that, or had nobody
  // else to ask: they change nothing.
  Change record(std::size_t server, bool failed, TimePoint now);
  // Ends its ejection early, on probation. No effect on one that is not ejected.
  void readmit(std::size_t server, TimePoint now);
  // Goes on from what another one knew of the same server, as far as `most` allows.
  void adopt(std::size_t server, const Ejections& previous, std::size_t there, TimePoint now);

  bool is_ejected(std::size_t server, TimePoint now) const { return now < servers_[server].until; }
  ServerSet ejected(TimePoint now) const;
  // How long it stays so; 0 when it is not ejected.
  Duration left(std::size_t server, TimePoint now) const;
  // When the next ejection ends; kNever when there is none.
  TimePoint next_return(TimePoint now) const;
  // A success of this server would change something.
  bool is_troubled(std::size_t server) const {
    return servers_[server].failures > 0 || servers_[server].on_probation;
  }

 private:
  struct Server {
    std::uint32_t failures = 0;  // in a row
    std::uint32_t doublings = 0;
    bool on_probation = false;
    TimePoint until = TimePoint::min();  // of the last ejection
  };

  Duration next_time(const Server& server) const;
  void forget(Server& server, TimePoint now) const;

  EjectionLimits limits_;
  std::vector<Server> servers_;
};

}  // namespace spillway::resilience
