// Which classes are refused for lack of room, and how much of each: the lowest first, and a higher
// one only once those below it are down to their guaranteed share.
//
// A rule sets which means are allowed, and its probability the largest share. This class sets how
// much of that is used:
// * No rule refuses while less work is offered than the upstream can do, whatever the state: its
//   queues absorb bursts.
// * A class is in scope while more is offered, and every class below it gets no more turns than its
//   `min_share`. Classes in scope are refused unless their wait is short.
// * A class below another that waits too long is cut: a share of it may not wait while the other
//   one does, growing until that one's wait is short again.
// * A budget of a rule is in force while more is offered, by a mean over some seconds. Otherwise
//   there is room for the requests that it would refuse; and near the capacity more is offered by
//   chance, again and again.
//
// Pure; one for each upstream, stepped by the control tick.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/admission/shed_levels.hpp"
#include "overload/control/returning_state.hpp"

namespace spillway::overload {

class ShedScope {
 public:
  ShedScope(const config::Config& config, const config::Upstream& upstream);

  // Keeps the refusals in force under the former configuration, class by class.
  void continue_from(const ShedScope& former);

  // Counts until now, by class.
  struct Turns {
    std::span<const std::uint64_t> started;  // requests that got a slot; only grows
    std::span<const double> predicted_wait;  // seconds, for a request that comes now
    bool is_normal = true;                   // the state
    bool budget_refused = false;             // of a rule
    std::uint32_t limit = 0;                 // requests that may run at once
  };
  // Call every tick. `offered_load`: work offered / work the upstream can do; nullopt: not known.
  void step(std::optional<double> offered_load, const Turns& turns, TimePoint now);

  const ShedLevels& levels() const { return levels_; }
  // About as much work is offered as the upstream can do, or more: the state may not end.
  bool holds() const { return regulates_ && is_near_; }

 private:
  void count(std::span<const std::uint64_t> started, double seconds);
  void judge_budgets(std::optional<double> offered_load, double seconds);
  bool is_down(std::size_t i) const;

  std::vector<double> min_share_;
  double target_wait_;  // seconds
  bool regulates_;
  bool is_over_ = false;  // more work is offered than the upstream can do
  bool is_near_ = false;
  double usual_load_ = 0;            // offered load, a mean over some seconds
  std::uint32_t highest_limit_ = 0;  // while the state was NORMAL
  ReturningState state_;
  ShedLevels levels_;
  std::vector<std::uint64_t> started_;
  std::vector<double> recent_;  // turns; older ones count less
  std::optional<TimePoint> last_;
};

}  // namespace spillway::overload
