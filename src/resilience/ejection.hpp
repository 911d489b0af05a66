// Outlier ejection (Envoy's term): a server that fails several times in a row is excluded from load
// balancing for a time, which doubles with each ejection. A circuit breaker is per caller and
// refuses calls; ejection counts all callers' results and moves their requests to other servers. So
// only a share of the servers may be ejected at a time, and a caller may use an ejected one if
// there is no other.
//
// A returning server is on probation: its first failure ejects it again (for failed responses, the
// second one that counts), its first success ends the probation. One doubling is undone for each
// `base` that passes after an ejection.
//
// Failed responses with a known source count by FailureRow: one client that asks for something that
// always fails ejects no server. Nor do several, if they fail at every server alike: a server that
// responds is an outlier only beside one whose failure row is less than half as long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "resilience/failure_row.hpp"
#include "resilience/server_set.hpp"

namespace spillway::resilience {

struct EjectionLimits {
  std::uint32_t consecutive_failures = 5;  // in a row, to eject; 0: never
  Duration base = std::chrono::seconds(10);
  Duration max = std::chrono::seconds(300);
  std::size_t max_ejected = 0;  // servers at a time
};

// How many of `servers` may be ejected at a time: ratio * servers, rounded down. The ratio is
// clamped to [0, 1]; NaN counts as 0.
std::size_t max_ejected(double ratio, std::size_t servers);

// All servers of one upstream, at most ServerSet::kCapacity. One owner; allocates only at
// construction.
class Ejections {
 public:
  enum class Change : std::uint8_t {
    none,
    ejected,
    back,  // the first success after an ejection
  };

  static constexpr std::uint32_t kSuccessesOfSpared = 5;

  Ejections(const EjectionLimits& limits, std::size_t servers);

  // The result of a call. Calls that end while the server is ejected began before that, or had no
  // other server: they change nothing. `source`: of a failed response, or of a success with which
  // other servers' failures can be compared; without it a failure is the server's own.
  Change record(std::size_t server, bool failed, TimePoint now,
                const std::optional<FailureSource>& source = std::nullopt);
  // Ends its ejection early, on probation. No effect on a server that is not ejected.
  void readmit(std::size_t server, TimePoint now);
  // Takes over the state of server `there` of `previous` (the former configuration), as far as
  // max_ejected allows.
  void adopt(std::size_t server, const Ejections& previous, std::size_t there, TimePoint now);

  bool is_ejected(std::size_t server, TimePoint now) const { return now < servers_[server].until; }
  ServerSet ejected(TimePoint now) const;
  // Not ejected, but without a success since the last ejection, or with fewer successes in a row
  // than kSuccessesOfSpared since the failure that would have ejected it if max_ejected permitted.
  // Otherwise a server that fails intermittently would gain and lose its part again and again, and
  // nothing could be learned about the others.
  ServerSet on_trial(TimePoint now) const;
  // Time until its ejection ends; 0 if it is not ejected.
  Duration left(std::size_t server, TimePoint now) const;
  // When the next ejection ends; kNever if there is none.
  TimePoint next_return(TimePoint now) const;
  // Whether a success of this server would change its state.
  bool is_troubled(std::size_t server) const {
    return servers_[server].failed || servers_[server].on_probation ||
           servers_[server].spared_for > 0;
  }
  // Bits of the sources whose success at another server matters: see FailureRow::bits_of().
  std::uint64_t suspects() const;

 private:
  struct Server {
    std::uint32_t failures = 0;  // in a row, that count
    std::uint32_t doublings = 0;
    bool failed = false;  // the last result
    bool on_probation = false;
    // Too many are ejected: lasts until this many successes in a row; 0: it is healthy.
    std::uint32_t spared_for = 0;
    FailureRow row;
    TimePoint until = TimePoint::min();  // of the last ejection
  };

  bool is_another_well(std::size_t server, TimePoint now) const;
  bool do_all_fail_alike(std::size_t server, TimePoint now) const;
  void succeeded(std::size_t server, const std::optional<FailureSource>& source);
  Duration next_time(const Server& server) const;
  void forget(Server& server, TimePoint now) const;

  EjectionLimits limits_;
  std::vector<Server> servers_;
};

}  // namespace spillway::resilience
