// A circuit breaker: after enough failures it refuses calls for a while, then probes with a few,
// and closes when they succeed (Nygard, "Release It!", Pragmatic Bookshelf, 2007, "Circuit
// Breaker").
//
//   closed --failures--> open --time--> half-open --successes--> closed
//                          ^-------- a failure -----'
//
// A closed circuit judges the server without the few clients or paths whose requests fail while
// others succeed (FailingSources): one client that asks for something that fails must not open it.
// Nor must many such clients: consecutive failed responses open it only if no request has succeeded
// for longer than chance explains (SuccessPace).
//
// Nor may such a client keep it open, although any request that comes may be a probe. A half-open
// circuit opens again
// * at once if there is no connection;
// * at the second other failure, if it has neither the client nor the path of the first.
// At first, for as long again as the circuit was open, only sources are let through whose client or
// path succeeded before it opened (WellSources), if there are any. The client and the path of a
// first failed probe are suspects (ProbeSuspects): for as long as the circuit was open, others go
// before them. After that one of the suspects is let through. If it fails again and no other has
// succeeded meanwhile, it is the only traffic there is: the circuit opens. Failures of sources that
// are still suspect when it closes do not count for one more window; by then others have been
// served.
#pragma once

#include <cstdint>

#include "base/random.hpp"
#include "base/time.hpp"
#include "resilience/backoff.hpp"
#include "resilience/failing_sources.hpp"
#include "resilience/probe_suspects.hpp"
#include "resilience/sliding_count.hpp"
#include "resilience/success_pace.hpp"
#include "resilience/well_sources.hpp"

namespace spillway::resilience {

enum class CircuitState : std::uint8_t { closed, open, half_open };

// How a call ended. `ignored` says nothing about the callee: the client left, or the call was never
// sent.
enum class CallResult : std::uint8_t { success, failure, ignored };

struct CircuitBreakerLimits {
  std::uint32_t consecutive_failures = 5;  // in a row, to open it; 0: never by these
  double failure_rate = 0.5;               // in the window, to open it; 0 or NaN: never by it
  std::uint32_t min_samples = 20;          // in the window; with fewer the rate does not count
  Duration window = std::chrono::seconds(10);
  std::uint32_t probes = 1;              // at a time while half-open; 0 counts as 1
  std::uint32_t successes_to_close = 3;  // probes, no failure in between but suspects'; 0: 1
  Backoff open_for;                      // attempt n: opened n times without closing
};

// One owner, fixed memory. Every allowed call must be recorded exactly once; otherwise a probe
// never counts as finished.
class CircuitBreaker {
 public:
  // Returned by allow(), to be passed to record(). The era distinguishes probes from calls that
  // began before the last change of state, whose results are ignored.
  struct Call {
    bool allowed = false;
    bool answered = false;
    bool suspected = false;
    std::uint32_t era = 0;

    explicit operator bool() const { return allowed; }
  };

  explicit CircuitBreaker(const CircuitBreakerLimits& limits);

  // The earliest time at which allow() would allow a call, if nothing happens meanwhile; kNever:
  // once the running probes have ended.
  TimePoint allowed_from(const FailureSource* source = nullptr) const;
  // Whether this call may be made. The first one after the open time makes the circuit half-open.
  // `source`: the call's; null if unknown or if judges_probes() is false.
  Call allow(TimePoint now, const FailureSource* source = nullptr);
  // Whether the source of a call matters to allow().
  bool judges_probes() const {
    return state_ != CircuitState::closed && !(suspects_.empty() && well_.empty());
  }
  // The callee has begun to answer. The result must still be recorded, which may take long;
  // meanwhile this probe does not hold back the next one.
  void answered(Call& call);
  // A call that was not allowed is ignored. `source`: of a call that the callee has responded to;
  // null if it has not, or if sources are unknown. Draws from `random` when the circuit opens.
  void record(const Call& call, CallResult result, TimePoint now, Random& random,
              const FailureSource* source = nullptr);

  CircuitState state() const { return state_; }
  // If open: the time from which a probe is allowed.
  TimePoint probe_at() const { return probe_at_; }

 private:
  void record_closed(CallResult result, TimePoint now, Random& random, const FailureSource* source);
  void add_to_row(const FailureSource* source);
  bool is_stranger(const FailureSource* source) const;
  bool is_suspect_of_late(const FailureSource* source, TimePoint now) const;
  void record_probe(const Call& call, CallResult result, TimePoint now, Random& random,
                    const FailureSource* source);
  void probe_succeeded(const Call& call, TimePoint now, const FailureSource* source);
  bool reopens(const Call& call, TimePoint now, const FailureSource* source);
  bool too_many_failures(TimePoint now);
  bool is_above_rate(std::uint64_t failures, std::uint64_t samples) const;
  void open(TimePoint now, Random& random);
  void enter(CircuitState state);

  CircuitBreakerLimits limits_;
  CircuitState state_ = CircuitState::closed;
  std::uint32_t era_ = 0;  // counts the changes of state
  SlidingCount samples_;
  SlidingCount failures_;
  FailingSources sources_;
  SuccessPace pace_;
  WellSources well_;
  // Failures without a success in between.
  struct Row {
    std::uint32_t failures = 0;
    FailureSource first;        // of the first one, if known
    bool is_one_client = true;  // so far
    bool is_one_path = true;    //
    bool is_responses = true;   // all of them have a source
  };
  Row row_;
  std::uint32_t times_opened_ = 0;  // since it was last closed
  Duration open_time_{};            // the last one
  TimePoint probe_at_{};
  TimePoint strangers_from_{};  // if open or half-open: from then on strangers may be probes
  ProbeSuspects suspects_;
  TimePoint suspects_from_{};      // if half-open: from then on one of them is let through
  TimePoint suspects_until_{};     // if closed: failures of suspects do not count until then
  bool has_other_served_ = false;  // a non-suspect has succeeded since suspects_from_ was set
  std::uint32_t probes_running_ = 0;
  std::uint32_t probes_succeeded_ = 0;
};

}  // namespace spillway::resilience
