// Whether the overload state has returned soon after it had ended: then its cause persists, and the
// state begins and ends by chance. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "base/time.hpp"

namespace spillway::overload {

class ReturningState {
 public:
  static constexpr Duration kSoon = std::chrono::minutes(1);

  // Call every tick. `now` never goes back.
  void step(bool is_normal, TimePoint now) {
    if (std::exchange(was_normal_, is_normal) == is_normal) return;
    came_back_.reset();
    if (!is_normal && ended_ && now - *ended_ <= kSoon) came_back_ = now;
    if (is_normal) ended_ = now;
  }
  // When the state returned; nullopt: it is NORMAL, or had been for longer than kSoon.
  std::optional<TimePoint> came_back() const { return came_back_; }
  // Treats the state as if it had not returned.
  void forget() { came_back_.reset(); }
  // In NORMAL: the cause of the state before is gone. The next state does not count as returned.
  void forget_last() { ended_.reset(); }

 private:
  bool was_normal_ = true;
  std::optional<TimePoint> came_back_, ended_;
};

}  // namespace spillway::overload
