// How many requests an upstream is given at once so that its tail latency stays under the
// configured threshold: an effective limit at or below `concurrency`.
//
// Latency moves this limit and never the refused share. A share that is refused for latency empties
// slots, latency falls, the overload ends, and all of it comes back: an oscillator. What does not
// fit under a lower limit is refused by the gate for lack of room, the lowest class first, and no
// slot idles meanwhile.
//
// Each lowering is an experiment: it is kept if the upstream still finishes what it finished, and
// otherwise taken back. By Little's law (mean latency = requests at work / throughput) a lower
// limit at the same throughput is a lower latency, down to the knee; below the knee only throughput
// falls. So a threshold that cannot be met, or a slow dependency that no limit makes faster, costs
// an experiment from time to time instead of the upstream's throughput.
//
// Pure; one for each upstream, stepped by the control tick.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/signals.hpp"
#include "overload/tail_latency.hpp"

namespace spillway::overload {

class LimitRegulator {
 public:
  // The limit moves between `least` (at least 1) and `concurrency`. Without a threshold
  // (TailLatency), with `regulate` off and in shadow mode it stays at `concurrency`.
  LimitRegulator(const config::Overload& settings, std::uint32_t concurrency, std::uint32_t least);

  // Keeps the limit found under the former configuration, within the new bounds.
  void continue_from(const LimitRegulator& former);

  // Every tick. `signals` were measured under limit(); `waiting`: requests in the queues.
  void step(const OverloadSignals& signals, std::uint32_t waiting, TimePoint now);

  std::uint32_t limit() const { return limit_; }
  bool regulates() const { return regulate_ && tail_.is_watched(); }
  // The limit is lowered, and requests wait or were lost for it within the window: the overload is
  // not over, however low its signals are.
  bool is_holding() const { return limit_ < concurrency_ && is_short_; }
  // Latency is above its threshold, and no lower limit that was tried brought it down.
  bool is_futile() const { return futile_; }

 private:
  // What the upstream did during one window.
  struct Reading {
    TailLatency::Judgement tail;
    double latency = 0;     // seconds, p95
    double throughput = 0;  // successes per second
    double samples = 0;     // behind `throughput`
    double answered = 1;    // part of the dispatched requests
  };
  struct Trial {
    std::uint32_t former = 0;  // the limit before
    TimePoint ends;
  };

  Reading read(const OverloadSignals& signals, const TailLatency::Judgement& tail) const;
  bool is_draining(const OverloadSignals& signals, bool is_judged, TimePoint now);
  void note_shortage(const Reading& reading, const OverloadSignals& signals, std::uint32_t waiting,
                     TimePoint now);
  void note_good(const Reading& reading, TimePoint now);
  bool got_slower(const Reading& reading, TimePoint now);
  void lower(const Reading& reading, double inflight, TimePoint now);
  void judge(const Trial& trial, const Reading& after, TimePoint now);
  bool return_to_knee(const Reading& reading, TimePoint now);
  void raise(const Reading& reading, TimePoint now);
  Duration settling_time(const Reading& reading) const;

  TailLatency tail_;
  bool regulate_;
  bool moves_;  // not in shadow mode, where a lower limit changes nothing that could be judged
  Duration window_;
  std::uint32_t concurrency_;
  std::uint32_t least_;
  std::uint32_t limit_;
  std::optional<Trial> trial_;
  double good_throughput_ = 0;  // the most with a satisfied latency; slowly forgotten
  double best_throughput_ = 0;  // before the trials, under their limits
  double step_;                 // the largest cut of a trial, as a factor
  Duration pause_;              // after the next failure
  TimePoint not_before_{};      // of the next trial or raise
  std::optional<TimePoint> short_since_, enough_since_, last_step_, draining_since_;
  bool is_short_ = false;
  bool futile_ = false;
};

}  // namespace spillway::overload
