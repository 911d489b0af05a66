// The regulator of an upstream's effective limit: how many requests it is given at once, at most
// `concurrency`, so that its tail latency stays under the configured threshold.
//
// Latency moves this limit and never the refused share. Refusing a share because of latency would
// empty slots, latency would fall, the overload would end, and all of it would come back: an
// oscillator. Requests that do not fit under a lower limit are refused by the gate for lack of
// room, the lowest class first, and no slot idles meanwhile.
//
// Each lowering is an experiment: it is kept if the upstream's throughput holds, and otherwise
// taken back. By Little's law (mean latency = requests at work / throughput) a lower limit at the
// same throughput means a lower latency, down to the knee; below the knee only throughput falls. So
// a threshold that cannot be met, or a slow dependency that no limit makes faster, costs an
// experiment from time to time instead of the upstream's throughput.
//
// Responses that miss the upstream's timeout are a latency, too: if the queue at an upstream is
// longer than the timeout, no request is answered, however much it works. There a lowering is kept
// if as many slots are given back as before (requests keep them until the upstream has finished
// them), and if fewer responses are late.
//
// Pure; one for each upstream, stepped by the control tick.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/signals/signals.hpp"
#include "overload/signals/tail_latency.hpp"

namespace spillway::overload {

class LimitRegulator {
 public:
  // The limit moves between `least` (at least 1) and `concurrency`. With `regulate` off and in
  // shadow mode it stays at `concurrency`; without a threshold (TailLatency) it does as well,
  // unless responses miss `timeout` (5 s at most; zero: none).
  LimitRegulator(const config::Overload& settings, std::uint32_t concurrency, std::uint32_t least,
                 Duration timeout = Duration{0});

  // Keeps the limit found under the former configuration, within the new bounds.
  void continue_from(const LimitRegulator& former);

  // `times`: servers in rotation / those before. Restarts the measurement: a trial would show
  // nothing. To be called before the tick's step.
  void on_rotation(double times, TimePoint now);

  // Call every tick. `signals` were measured under limit(); `waiting`: requests in the queues.
  void step(const OverloadSignals& signals, std::uint32_t waiting, TimePoint now);

  std::uint32_t limit() const { return limit_; }
  bool regulates() const { return regulate_ && tail_.is_watched(); }
  // The limit is lowered, and requests wait or were lost because of it within the window: the
  // overload is not over, however low its signals are.
  bool is_holding() const { return limit_ < concurrency_ && is_short_; }
  // Late responses depend on the limit, and it has been lowered because of them.
  bool prevents_timeouts() const {
    return is_moving() && last_late_ && limit_ < concurrency_ && !futile_;
  }
  // Latency is above its threshold, and no lower limit that was tried reduced it.
  bool is_futile() const { return futile_; }

 private:
  // Measurements of the upstream over one window.
  struct Reading {
    TailLatency::Judgement tail;
    double latency = 0;     // seconds, p95
    double throughput = 0;  // successes per second
    double late = 0;        // share of the answers that timed out
    double released = 0;    // slots per second
    double samples = 0;     // number of successes behind `throughput`
    double in_time = 0;     // answers per second
    double answered = 1;    // share of the dispatched requests answered in time
  };
  struct Spell {  // a period of shortage, or without
    bool is_short;
    TimePoint since;
  };
  struct Raised {  // the last raise after timeouts
    double throughput = 0;
    double factor = 1;
  };
  struct Last {  // the last step
    TimePoint at;
    double inflight;
  };
  struct Trial {
    std::uint32_t former = 0;  // the limit before
    TimePoint ends;
    double released = 0, late = 0;  // before the trial, if responses were late
    bool is_second = false;         // since `released` may have fallen for another reason
  };

  std::optional<TailLatency::Judgement> judge_tail(const OverloadSignals& signals, TimePoint now);
  bool is_moving() const {
    return regulate_ && moves_ && (tail_.is_watched() || tail_.has_timeout());
  }
  Reading read(const OverloadSignals& signals, const TailLatency::Judgement& tail,
               TimePoint now) const;
  bool is_draining(const OverloadSignals& signals, bool is_judged, TimePoint now);
  void note_shortage(const Reading& reading, const OverloadSignals& signals, std::uint32_t waiting,
                     TimePoint now);
  void note_good(const Reading& reading, TimePoint now);
  bool got_slower(const Reading& reading, TimePoint now);
  void lower(const Reading& reading, double inflight, TimePoint now);
  bool releases_as_before(const Trial& trial, const Reading& after) const;
  bool is_kept(const Trial& trial, const Reading& after) const;
  bool looks_again(const Trial& trial, const Reading& after, TimePoint now);
  void judge(const Trial& trial, const Reading& after, TimePoint now);
  bool return_to_knee(const Reading& reading, TimePoint now);
  double next_raise(const Reading& reading);
  void raise(const Reading& reading, TimePoint now);
  Duration settling_time(const Reading& reading) const;

  TailLatency tail_;
  bool regulate_;
  bool moves_;  // not in shadow mode, where a lower limit has no effect to judge
  Duration window_;
  std::uint32_t concurrency_;
  std::uint32_t least_;
  std::uint32_t limit_;
  std::optional<Trial> trial_;
  double good_throughput_ = 0;  // the highest with a satisfied latency; slowly forgotten
  double best_throughput_ = 0;  // the best before the trials, then under their limits
  double step_;                 // the largest cut of a trial, as a factor
  Duration pause_;              // after the next failed trial
  TimePoint not_before_{};      // no trial or raise before that
  std::optional<TimePoint> draining_since_;
  std::optional<Spell> spell_;
  Raised raised_;
  std::optional<Last> last_;
  // Responses were late, and the limit was lowered because of it. Reset when it is back.
  std::optional<TimePoint> last_late_;
  bool is_short_ = false;
  bool futile_ = false;
};

}  // namespace spillway::overload
