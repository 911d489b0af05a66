// Whether the budgets of rules keep an upstream's signals low: what they refuse would come back
// with the end of the state, and with it the state.
//
// How much the upstream can do is what it served while a threshold was breached. While as much is
// offered, and budgets refuse some of it, the state lasts. What the upstream can do may grow
// meanwhile, which no signal says: so the state may end after a minute; if it comes back, after two
// the next time, and so on up to 16.
//
// Pure; one for each upstream, stepped by the control tick.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/signals.hpp"

namespace spillway::overload {

class BudgetHold {
 public:
  // With `"regulate": false` no state is held.
  explicit BudgetHold(const config::Overload& settings) : regulates_(settings.regulate) {}

  struct Input {
    std::uint64_t refused;  // by budgets of rules; only grows
    bool is_normal;         // the state before this tick
    bool is_alarming;       // a threshold of some state is breached
  };
  // Their refusals are counted anew.
  void continue_from(const BudgetHold& former) {
    const bool regulates = regulates_;
    *this = former;
    regulates_ = regulates;
    refused_.reset();
  }

  void step(const OverloadSignals& signals, const Input& input, TimePoint now);

  bool is_holding() const { return holds_; }

 private:
  bool regulates_;
  std::optional<std::uint64_t> refused_;
  std::optional<TimePoint> last_;         // when a budget refused
  double served_ = 0;                     // requests per second, the most while alarming
  std::optional<TimePoint> quiet_since_;  // nothing has been alarming since
  std::optional<TimePoint> normal_since_;
  bool is_tried_ = false;  // the state may end
  Duration patience_{std::chrono::minutes(1)};
  bool holds_ = false;
};

}  // namespace spillway::overload
