// The overload state of one upstream as the control thread last published it: state, reason,
// signals, plan, counts of transitions. Read by /metrics and /state. Thread-safe.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "observe/snapshot/snapshot.hpp"
#include "overload/control/controller.hpp"

namespace spillway::proxy {

class OverloadStatus {
 public:
  struct Current {
    State state{};
    Reason reason = Reason::none;
    TimePoint since{};
    overload::OverloadSignals signals;
    bool is_limit_at_max = false;
    std::shared_ptr<const overload::AdmissionPlan> plan;  // never null
    std::vector<observe::TransitionCount> transitions;
  };

  OverloadStatus(const overload::Controller& controller, TimePoint now) {
    current_.since = now;
    publish(controller, std::nullopt, now);
  }

  void publish(const overload::Controller& controller,
               const std::optional<overload::Transition>& transition, TimePoint now) {
    const std::lock_guard lock(mutex_);
    current_.state = controller.state();
    current_.reason = controller.reason();
    current_.signals = controller.signals();
    current_.is_limit_at_max = controller.is_limit_at_max();
    current_.plan = controller.plan();
    if (!transition) return;
    current_.since = now;
    const auto known = std::ranges::find_if(current_.transitions, [&](const auto& each) {
      return each.to == transition->to && each.reason == transition->reason;
    });
    if (known == current_.transitions.end()) {
      current_.transitions.push_back({transition->to, transition->reason, 1});
    } else {
      ++known->count;
    }
  }

  Current read() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }

 private:
  mutable std::mutex mutex_;
  Current current_;
};

}  // namespace spillway::proxy
