// The proxy's handling of several servers: which one a request is sent to, and the effects of
// failures. Uses the proxy's own load balancing, outlier ejection, circuit breakers, retry budget
// and rule for a further attempt, in the same order, on a virtual clock. One worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/signals/signals.hpp"
#include "resilience/circuit_breaker.hpp"
#include "resilience/ejection.hpp"
#include "resilience/in_flight_counts.hpp"
#include "resilience/next_attempt.hpp"
#include "resilience/retry_budget.hpp"
#include "resilience/rotation.hpp"
#include "resilience/server_set.hpp"
#include "simulate/model/request.hpp"

namespace spillway::simulate {

class ServersModel {
 public:
  // `servers`: at most ServerSet::kCapacity. Keeps a reference to `settings`.
  ServersModel(const config::Upstream& settings, std::size_t servers, Random random);

  // A request begins, before its first attempt.
  void begin(TimePoint now) { budget_.on_request(now); }

  // One attempt: tries servers until one accepts the connection; request.call tells which.
  enum class Connected : std::uint8_t { yes, refused, circuits_open };
  using Accepts = std::function<bool(std::size_t server)>;
  Connected connect(Request& request, const Accepts& accepts, TimePoint now);
  // The same without any of this: each server in turn, whatever the result of earlier requests.
  Connected connect_in_turn(Request& request, const Accepts& accepts);
  // Whether a refused attempt is followed by another, and after which pause; nullopt: the request
  // has failed.
  std::optional<Duration> retry(Request& request, TimePoint due, TimePoint now);
  // Whether a failed job may be sent again; and, below, that such a retry succeeded or was not
  // sent.
  bool try_job_retry(TimePoint now);
  void give_back_retry(TimePoint now) { budget_.give_back(now); }
  // How the call of a connected request ended. Call it once for each.
  void end(Request& request, resilience::CallResult result, TimePoint now);
  // Whether a request that timed out keeps its slot, as in UpstreamCall::abandon(); if so, until
  // end_abandoned(), which may be called for any request.
  bool linger(Request& request, TimePoint now);
  // The same for one whose client has left, and which keeps its slot.
  void keep(Request& request);
  void end_abandoned(Request& request);

  // Divides this number of slots among the servers from now on; before that none lacks room.
  void divide(std::uint32_t slots) { slots_ = slots; }
  void share(std::span<const double> weights) { shares_.set(weights); }
  std::span<const overload::ServerTick> ticks(TimePoint now);
  // Of `slots`: see resilience::Rotation.
  std::uint32_t usable(std::uint32_t slots, TimePoint now);
  overload::InRotation in_rotation(std::uint32_t slots, TimePoint now);

  std::size_t count() const { return in_flight_.servers(); }
  std::uint32_t in_flight(std::size_t server) const { return in_flight_[server]; }
  std::uint64_t retries() const { return retries_; }  // sent
  resilience::ServerSet ejected(TimePoint now) const { return ejections_.ejected(now); }

 private:
  resilience::Rotation rotation(TimePoint now);
  resilience::InFlight counted(std::size_t server, std::uint32_t slots) const;
  std::size_t choose(resilience::ServerSet among, TimePoint now);
  void record(std::size_t server, const resilience::CircuitBreaker::Call& call,
              resilience::CallResult result, TimePoint now);

  const config::Upstream& settings_;
  const resilience::ServerSet all_;
  Random random_;
  resilience::Ejections ejections_;
  bool ejects_;
  std::deque<resilience::CircuitBreaker> breakers_;  // by server; empty: none
  resilience::RetryBudget budget_;
  resilience::InFlightCounts in_flight_;
  resilience::ServerShares shares_;
  std::vector<overload::ServerTick> ticks_;
  resilience::ServerSet on_trial_;
  std::uint32_t slots_ = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t turn_ = 0;
  std::uint64_t retries_ = 0;
};

}  // namespace spillway::simulate
