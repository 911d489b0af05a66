// The regulator of the share that is refused for poor health: for errors and event-loop lag.
//
// A free slot is no reason to send a request there, so these refusals are final. A fixed share
// would oscillate: it cures the signal, the cure ends the state, and everything comes back at once.
// So the share grows while the signal is above its enter threshold, shrinks while it is below its
// exit threshold, and stays in between; the state lasts until the share is zero. The lowest class
// is refused up to its rule's probability before the next one is touched.
//
// The wait for an overloaded event loop is the integral of the excess, so it shows late that enough
// is refused: so the share also stays while that wait gets shorter above the enter threshold, or
// longer below the exit threshold.
//
// It is taken back if it does not help: if the signal, after all classes but the highest were
// refused as far as their rules allow, is not clearly lower than at its worst before; and, for
// errors, if each class has as many without it (ReliefTrial). A lag of an event loop that runs all
// the time is not judged: the loop has too much to do, and with fewer requests it has less. Nor is
// shadow mode, where nothing is refused that could help.
//
// For lag it is the share on the worker that lags most; workers that do not lag refuse nothing
// (LaggingWorkers).
//
// With a single class nothing is refused for errors, nor for a lag not caused by the loop's own
// work: no other class would gain by it.
//
// Pure; one for each upstream, stepped by the control tick.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "base/ids.hpp"
#include "base/reason.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/control/lagging_workers.hpp"
#include "overload/control/relief_trial.hpp"
#include "overload/control/returning_state.hpp"
#include "overload/signals/signals.hpp"

namespace spillway::overload {

class ShareRegulator {
 public:
  // The thresholds are those of the lowest stage that has them. Without `regulate` every class is
  // refused as its rule says.
  ShareRegulator(const config::Overload& settings, std::size_t classes);

  // Keeps the share refused under the former configuration.
  void continue_from(const ShareRegulator& former);

  // Call every tick; `reason`: the state's. `now` never goes back.
  void step(const OverloadSignals& signals, Reason reason, TimePoint now);

  // Call every tick as well: the lag of each worker, in seconds. Returns whether others lag now.
  bool watch_workers(std::span<const double> lags, TimePoint now);

  // The refused share of the class, [0, 1].
  double share(std::size_t traffic_class) const;
  // Whether this worker refuses it: for lag only a worker whose own loop lags.
  bool refuses_on(std::size_t worker) const {
    return !regulates_ || cause_ != Reason::event_loop_lag || workers_.lags(worker);
  }
  // Requests are refused, or the event loop has lagged recently and has no time to spare.
  bool is_holding() const { return regulates_ && (level_ > 0 || loop_.is_lagging); }
  // The state may not end: also if it returned within a minute though refusing did not help, until
  // the signal has been below its threshold for as long.
  bool keeps_state(TimePoint now) const;
  // Refusing did not bring the signal below its threshold, as far as remembered.
  bool is_futile() const { return futile_; }

 private:
  struct Signal {
    std::optional<double> enter, exit;
    std::optional<double> now;
  };
  struct Course {
    double signal = 0;
    double change = 0;  // since the tick before
  };
  struct Loop {                          // if the signal is its lag
    bool is_own_work = false;            // it runs all the time
    bool is_lagging = false;             // the same, and it lagged recently
    std::optional<TimePoint> lagged_at;  // above the exit threshold, by its own work
  };
  Signal watched(const OverloadSignals& signals) const;
  void watch(Reason cause);
  bool has_nothing_to_relieve(const OverloadSignals& signals) const;
  bool is_full() const;
  void judge(double signal, TimePoint now);
  void calm_down(const Signal& signal, double passed, TimePoint now);
  bool is_in_trial(const OverloadSignals& signals, const Signal& signal, TimePoint now);
  void take_back(double signal, TimePoint now);

  config::Thresholds enter_, exit_;
  bool regulates_;
  bool judges_;
  double classes_;
  Reason cause_ = Reason::none;  // the signal that started the refusing
  double level_ = 0;             // in classes: 1.5 is all of the lowest and half of the next
  double before_ = 0;            // the signal at its worst, before the share was full
  Course course_;                // of the signal
  Loop loop_;
  LaggingWorkers workers_;
  std::optional<TimePoint> last_, full_since_, not_before_;
  std::optional<TimePoint> calm_since_;  // below the exit threshold
  double taken_back_at_ = 0;             // the signal at that time
  ReliefTrial trial_;                    // for errors
  Duration pause_;
  bool futile_ = false;
  ReturningState state_;
};

}  // namespace spillway::overload
