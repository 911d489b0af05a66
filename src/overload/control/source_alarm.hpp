// Whether an upstream is in no overloaded state only because the errors of one source are left out:
// for the log. With hysteresis, like the states.
#pragma once

#include <optional>

#include "config/config.hpp"
#include "overload/signals/signals.hpp"

namespace spillway::overload {

class SourceAlarm {
 public:
  enum class Change : std::uint8_t { none, began, ended };

  // The thresholds are those of the lowest stage that has one for errors.
  explicit SourceAlarm(const config::Overload& settings)
      : enter_(settings.enter.error_rate), exit_(settings.exit.error_rate) {
    for (auto stage = settings.stages.rbegin(); stage != settings.stages.rend(); ++stage) {
      if (!stage->enter.error_rate) continue;
      enter_ = stage->enter.error_rate;
      exit_ = stage->exit.error_rate;
    }
  }

  bool is_on() const { return is_on_; }

  void continue_from(const SourceAlarm& former) { is_on_ = former.is_on_ && enter_; }

  // Call every tick. Begins when the error rate of all requests is at the enter threshold and that
  // of the others is not; ends when the latter reaches it, too, or the former is down to the exit
  // threshold.
  Change step(const OverloadSignals& signals) {
    if (!enter_) return Change::none;
    const double all = signals.total_error_rate.value_or(0);
    const double others = signals.error_rate.value_or(0);
    if (!is_on_ && signals.left_out && all >= *enter_ && others < *enter_) {
      is_on_ = true;
      return Change::began;
    }
    if (is_on_ && (others >= *enter_ || all <= exit_.value_or(*enter_))) {
      is_on_ = false;
      return Change::ended;
    }
    return Change::none;
  }

 private:
  std::optional<double> enter_, exit_;
  bool is_on_ = false;
};

}  // namespace spillway::overload
