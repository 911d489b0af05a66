// Whether the overload state has come back soon after it had ended: then what made it begin goes
// on, and it begins and ends by chance. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "base/time.hpp"

namespace spillway::overload {

class ReturningState {
 public:
  static constexpr Duration kSoon = std::chrono::minutes(1);

  // Every tick. `now` never goes back.
  void step(bool is_normal, TimePoint now) {
    if (std::exchange(was_normal_, is_normal) == is_normal) return;
    came_back_.reset();
    if (!is_normal && ended_ && now - *ended_ <= kSoon) came_back_ = now;
    if (is_normal) ended_ = now;
  }
  // When it came back; nullopt: it is NORMAL, or had been for longer.
  std::optional<TimePoint> came_back() const { return came_back_; }
  // As if it had not come back.
  void forget() { came_back_.reset(); }

 private:
  bool was_normal_ = true;
  std::optional<TimePoint> came_back_, ended_;
};

}  // namespace spillway::overload
