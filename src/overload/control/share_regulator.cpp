#include "overload/control/share_regulator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spillway::overload {
namespace {

using namespace std::chrono_literals;

// Classes per second, of three, at the enter threshold and below the exit threshold. Slower than
// the signals, which are measured over one to two seconds, so that the effect of one step is seen
// before the next one.
constexpr double kUp = 0.25;
constexpr double kDown = 0.1;
// The largest factors: for a lag, or errors this many times above their threshold; for a signal
// this many times below.
constexpr double kFastestUp = 3;
constexpr double kFastestDown = 10;
// Refusing helps if the signal has fallen to this share of its former value, this long after all
// classes but the highest were refused as far as possible.
constexpr double kHelped = 0.8;
constexpr Duration kTrial = 8s;
// Share of time: an event loop that runs for so much of it has no time to spare.
constexpr double kBusy = 0.9;
// A share that was taken back is tried again early if the loop is busy and its lag has grown by
// this factor.
constexpr double kWorse = 1.5;
constexpr Duration kFirstRest = 20s;
constexpr Duration kLongestRest = 320s;
// The same for errors, and the growth of each rest over the last: most errors that load does not
// cause last long, and each trial costs the lowest classes 14 to 20 s.
constexpr Duration kLongestErrorRest = 16min;
constexpr int kErrorRestGrowth = 4;
// The shortest time for which a result holds for a signal that returns.
constexpr Duration kRemembered = 1min;

// Requests at work, on average. With fewer, two hardly ever meet in the upstream, and refusing some
// relieves none: its errors are not due to a lack of capacity.
constexpr double kAnyLoad = 2;
// Except at this rate per second: errors that come fast look like a low load.
constexpr double kAnyRate = 20;

std::optional<double> seconds_of(const std::optional<Milliseconds>& threshold) {
  if (!threshold) return std::nullopt;
  return to_seconds(*threshold);
}

}  // namespace

ShareRegulator::ShareRegulator(const config::Overload& settings, std::size_t classes)
    : enter_(settings.enter),
      exit_(settings.exit),
      regulates_(settings.regulate),
      judges_(settings.mode != config::Mode::shadow),
      classes_(double(classes)),
      pause_(kFirstRest) {
  for (auto stage = settings.stages.rbegin(); stage != settings.stages.rend(); ++stage) {
    if (stage->enter.event_loop_lag) {
      enter_.event_loop_lag = stage->enter.event_loop_lag;
      exit_.event_loop_lag = stage->exit.event_loop_lag;
    }
    if (stage->enter.error_rate) {
      enter_.error_rate = stage->enter.error_rate;
      exit_.error_rate = stage->exit.error_rate;
    }
  }
}

void ShareRegulator::continue_from(const ShareRegulator& former) {
  if (!regulates_) return;
  level_ = std::min(former.level_, classes_);
  cause_ = former.cause_;
  before_ = former.before_;
  not_before_ = former.not_before_;
  pause_ = former.pause_;
  futile_ = former.futile_;
  state_ = former.state_;
  loop_.lagged_at = former.loop_.lagged_at;
  workers_ = former.workers_;
  taken_back_at_ = former.taken_back_at_;
  trial_.continue_from(former.trial_);
}

ShareRegulator::Signal ShareRegulator::watched(const OverloadSignals& signals) const {
  const Signal lag{seconds_of(enter_.event_loop_lag), seconds_of(exit_.event_loop_lag),
                   signals.event_loop_lag};
  const Signal errors{enter_.error_rate, exit_.error_rate, signals.error_rate};
  if (cause_ == Reason::event_loop_lag) return lag;
  if (cause_ == Reason::error_burst) return errors;
  return {};
}

// Judged only before any request is refused, since refusing itself lowers the load.
bool ShareRegulator::has_nothing_to_relieve(const OverloadSignals& signals) const {
  return cause_ == Reason::error_burst && level_ == 0 && signals.is_low_load() &&
         signals.inflight < kAnyLoad && signals.completed_rate < kAnyRate;
}

bool ShareRegulator::watch_workers(std::span<const double> lags, TimePoint now) {
  return workers_.step(lags, seconds_of(exit_.event_loop_lag), now);
}

void ShareRegulator::step(const OverloadSignals& signals, Reason reason, TimePoint now) {
  const std::optional<TimePoint> last = std::exchange(last_, now);
  if (!regulates_) return;
  state_.step(reason == Reason::none, now);
  const double passed = last ? to_seconds(now - *last) : 0;
  // The state may have another reason meanwhile; the share follows the signal that started it.
  if (reason == Reason::event_loop_lag || reason == Reason::error_burst) watch(reason);
  loop_.is_own_work =
      cause_ == Reason::event_loop_lag && signals.event_loop_use.value_or(0) >= kBusy;
  const Signal signal = watched(signals);
  course_ = {signal.now.value_or(0), signal.now.value_or(0) - course_.signal};
  if (loop_.is_own_work && signal.exit && signal.now && *signal.now > *signal.exit)
    loop_.lagged_at = now;
  loop_.is_lagging = loop_.is_own_work && loop_.lagged_at &&
                     now - *loop_.lagged_at <= LaggingWorkers::kLatelyLagged;
  if (loop_.is_own_work) full_since_.reset();
  if (classes_ <= 1 && !loop_.is_own_work) return calm_down(signal, passed, now);
  if (is_in_trial(signals, signal, now)) return;
  const bool is_known = signal.enter && signal.exit && signal.now;
  if (!is_known || *signal.now <= *signal.exit) return calm_down(signal, passed, now);
  calm_since_.reset();
  if (*signal.now < *signal.enter) return full_since_.reset();
  if (has_nothing_to_relieve(signals)) return;
  if (level_ == 0) before_ = 0;
  if (!is_full()) before_ = std::max(before_, *signal.now);
  const bool is_worse = loop_.is_own_work && *signal.now >= kWorse * taken_back_at_;
  if (not_before_ && now < *not_before_ && !is_worse) return;
  if (loop_.is_own_work) futile_ = false;
  // The backlog of a busy loop adds up: while less waits, enough is refused.
  if (loop_.is_own_work && course_.change < 0) return;
  double times = *signal.enter > 0 ? *signal.now / *signal.enter : 1;
  if (cause_ == Reason::event_loop_lag) times = kFastestUp;  // lag is the sum of the excess
  const double many = std::max(1.0, classes_ / 3);
  level_ = std::min(classes_, level_ + passed * kUp * many * std::min(times, kFastestUp));
  if (judges_ && !loop_.is_own_work) judge(*signal.now, now);
}

// A rate of few errors falls below the exit threshold by chance, again and again.
bool ShareRegulator::keeps_state(TimePoint now) const {
  if (is_holding()) return true;
  const bool is_calm = calm_since_ && now - *calm_since_ > kRemembered;
  return regulates_ && futile_ && state_.came_back() && !is_calm;
}

// A means that did not help against one may help against the other.
void ShareRegulator::watch(Reason cause) {
  if (std::exchange(cause_, cause) == cause) return;
  futile_ = false;
  not_before_.reset();
  pause_ = kFirstRest;
  trial_.forget();
}

// Below the exit threshold, or without a signal. Results are remembered for a minute, and a failure
// to help for as long as refusing would be paused: otherwise errors that come and go, or that are
// few and so below the threshold by chance, would start it again each time.
void ShareRegulator::calm_down(const Signal& signal, double passed, TimePoint now) {
  full_since_.reset();
  if (!calm_since_) calm_since_ = now;
  if (level_ == 0 && now - *calm_since_ >= std::max(pause_, kRemembered)) {
    futile_ = false;
    not_before_.reset();
    pause_ = kFirstRest;
    trial_.forget();
  }
  const bool is_known = signal.exit && signal.now;
  const double times = is_known && *signal.now > 0 ? *signal.exit / *signal.now : kFastestDown;
  // A share known to help is reduced slowly: errors for lack of capacity return with the load. And
  // while the backlog of a busy loop grows, not too much is refused.
  if (loop_.is_own_work && course_.change > 0) return;
  const double fastest = trial_.has_relieved() ? 1 : kFastestDown;
  level_ = std::max(0.0, level_ - passed * kDown * std::min(times, fastest));
}

// During a trial the share stays as it is.
bool ShareRegulator::is_in_trial(const OverloadSignals& signals, const Signal& signal,
                                 TimePoint now) {
  const bool are_errors = cause_ == Reason::error_burst && signal.exit && signal.now;
  const bool is_refusing = judges_ && are_errors && level_ > 0;
  const auto verdict = trial_.step(signals.class_answers, is_refusing, now);
  if (verdict == ReliefTrial::Verdict::futile) take_back(signal.now.value_or(0), now);
  return trial_.lets_in();
}

// The highest class is refused last, if its rule refuses.
double ShareRegulator::share(std::size_t traffic_class) const {
  if (!regulates_) return 1;
  if (trial_.lets_in()) return 0;
  const double lower = classes_ - 1 - double(traffic_class);
  return std::clamp(level_ - lower, 0.0, 1.0);
}

bool ShareRegulator::is_full() const { return level_ >= std::max(1.0, classes_ - 1); }

void ShareRegulator::judge(double signal, TimePoint now) {
  if (!is_full()) return;
  if (!full_since_) full_since_ = now;
  if (now - *full_since_ < kTrial) return;
  full_since_ = now;
  if (signal <= kHelped * before_) {
    before_ = signal;
    return;
  }
  take_back(signal, now);
}

void ShareRegulator::take_back(double signal, TimePoint now) {
  futile_ = true;
  taken_back_at_ = signal;
  level_ = 0;
  full_since_.reset();
  not_before_ = now + pause_;
  const bool are_errors = cause_ == Reason::error_burst;
  pause_ = are_errors ? std::min(kErrorRestGrowth * pause_, kLongestErrorRest)
                      : std::min(2 * pause_, kLongestRest);
}

}  // namespace spillway::overload
