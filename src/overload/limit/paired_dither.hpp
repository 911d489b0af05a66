// The concurrency limit found by paired dither: two limits applied and compared in turns.
//
// While the limit binds, turns under a lower limit alternate with turns under a higher one. The
// growth of throughput from one to the other shows where the knee of the upstream is: above both
// limits (each further request at work adds throughput), below both (it only waits there), or in
// between. Anything that slows both alike, such as an upstream that became slower as a whole,
// cancels out: no latency is remembered that could be wrong. All proxies take the same turns
// (dither_turns.hpp), so that several before one upstream find what it can do for all of them.
//
// The interval depends on how well the knee is known (knee.hpp): wide at first, so that few phases
// find it, then narrow. A wide interval far from the knee costs nothing: below it the higher limit
// is a gain, and above it the lower one is no loss.
//
// When the limit begins to bind, and nothing speaks against it, it first climbs: it doubles for as
// long as throughput grows with it, which takes a few times as long as a request holds its slot, be
// that milliseconds or seconds. Turns alone would take seconds to find the number of a large
// upstream, and would refuse requests meanwhile.
//
// It probes only while requests wait, and refuses none in order to probe: requests that the lower
// limit holds back find room under the higher one.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/limit/collapse_trial.hpp"
#include "overload/limit/concurrency_limit.hpp"
#include "overload/limit/dither_turns.hpp"
#include "overload/limit/knee.hpp"
#include "overload/limit/slot_times.hpp"

namespace spillway::overload {

class PairedDither final : public ConcurrencyLimit {
 public:
  PairedDither(const config::AutoConcurrency& settings, std::uint32_t least);

  void step(const LimitSample& sample, TimePoint now) override;
  std::uint32_t limit() const override { return limit_; }
  void restart(std::uint32_t limit) override;
  void continue_from(const ConcurrencyLimit& former) override;

 private:
  // Measurements under one limit, once the requests of the other limit had ended.
  struct Phase {
    double seconds = 0;
    double slot_seconds = 0;
    double succeeded = 0;
    double released = 0;

    void add(const LimitSample& sample);
    double at_work() const { return slot_seconds / seconds; }
    double throughput() const { return succeeded / seconds; }
    double held() const { return slot_seconds / released; }
  };
  // An observation under the current limit.
  struct Watch {
    Phase phase;
    TimePoint settled;
    std::optional<Phase> former;  // while climbing
    std::uint32_t limit;          // before the step
    bool has_begun = false;       // some of its requests have ended
    bool is_slow_step = false;
  };
  struct Tried {
    bool guess = false;
    bool climb = false;  // it did not help, or it is climbing
    bool cut = false;
  };
  struct Comparison {
    Phase low, high;  // of one turn or several
    bool is_high = true;
    bool has_begun = false;  // set with the first high turn
    TimePoint settled;       // when the requests of the other limit have ended
  };

  struct Served {
    double seconds = 0, succeeded = 0;
    double released = 0, left = 0;  // as in LimitSample

    void add(const LimitSample& sample);
    double rate() const { return seconds > 0 ? succeeded / seconds : 0; }
  };
  // A series of cuts by the brake.
  struct Brakes {
    double limit = 0;         // before the cuts
    Served before;            // while clients left
    TimePoint last;           // time of the last cut
    bool is_counted = false;  // few slots are given back a second: evidence is counted, not timed
    bool is_drained = false;
    double stale = 0;  // slots still to be given back that were taken under the former limit
    Served since;      // after those
  };

  struct Pause {
    TimePoint until;      // no cut before that
    Duration if_in_vain;  // the pause after the next series that does not help
  };

  std::optional<double> guess(double throughput, double at_work) const;
  void begin_watching(TimePoint now);
  void watch(const LimitSample& sample, TimePoint now);
  bool shows_queue(const Phase& phase) const;
  bool is_enough_of_step(const Phase& phase) const;
  void count_watched(const LimitSample& sample);
  bool is_idle(const LimitSample& sample) const;
  bool is_too_slow(const Watch& step) const;
  bool is_slow(double held) const;
  bool may_climb() const;
  bool may_climb_from(const Phase& done) const;
  void begin_climbing(const Phase& former, TimePoint now);
  void judge_step(const Watch& step, Duration tick, TimePoint now);
  void learn_from(const Watch& step);
  void leave_step(const Watch& step);
  void end_climbing(const Watch& step);
  void begin_comparing(Duration tick, TimePoint now);
  void compare(const LimitSample& sample, TimePoint now);
  void count(Phase& phase, const LimitSample& sample);
  void end_turn(const LimitSample& sample, TimePoint now);
  void begin_turn(bool is_high, TimePoint now);
  void raise();
  void stop();
  bool is_enough(const Phase& phase) const;
  void judge(const Phase& low, const Phase& high);
  double known_good() const;
  bool recover(const LimitSample& sample, TimePoint now);
  void bring_down();
  std::optional<bool> do_clients_leave(const LimitSample& sample) const;
  void note_served(const LimitSample& sample, bool leave);
  bool is_fresh(const LimitSample& sample) const;
  void brake(const LimitSample& sample, TimePoint now);
  bool is_drained(const LimitSample& sample) const;
  bool is_in_vain(TimePoint now) const;
  Duration longest_drain() const;
  Duration pause_between_cuts() const;
  void give_back(TimePoint now);
  void return_to(double former, TimePoint now);
  void place();
  std::uint32_t low_limit() const;
  std::uint32_t high_limit() const;

  double least_, most_;
  Knee knee_;
  double low_ = 0, width_ = 0;  // logarithms of the lower limit, and of higher / lower
  std::uint32_t limit_;
  std::optional<Watch> watch_;
  std::optional<Comparison> comparison_;
  DitherTurns turns_;
  double held_ = 0;  // seconds that a request held its slot, recently
  SlotTimes times_;
  CollapseTrial collapse_;
  Tried tried_;
  Duration short_for_{0};  // requests have been waiting for this time
  Duration idle_for_{0};   // there has been no queue for this time
  std::optional<Brakes> brakes_;
  double recover_to_ = 0;  // the limit before the brake, as far as it was seen to cause no queue
  Served leaving_;         // while clients leave
  Pause pause_;
  Duration careful_for_{0};
};

}  // namespace spillway::overload
