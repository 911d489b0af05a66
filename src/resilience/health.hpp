// The state of a server by its health checks. It changes after several equal results in a row, so
// that one lost check does not change it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace spillway::resilience {

// unknown: too few equal results so far; load balancing treats it like `healthy`.
enum class HealthState : std::uint8_t { unknown, well, unwell };

constexpr std::string_view name(HealthState state) {
  switch (state) {
    case HealthState::unknown: break;
    case HealthState::well: return "healthy";
    case HealthState::unwell: return "unhealthy";
  }
  return "unknown";
}

class Health {
 public:
  // A threshold of 0 counts as 1.
  Health(std::uint32_t healthy_after, std::uint32_t unhealthy_after)
      : healthy_after_(std::max(healthy_after, 1u)),
        unhealthy_after_(std::max(unhealthy_after, 1u)) {}

  // Records the result of one check. Returns whether it changed the state.
  bool record(bool success) {
    if (success != last_) in_a_row_ = 0;
    last_ = success;
    const HealthState said = success ? HealthState::well : HealthState::unwell;
    if (state_ == said) return false;
    if (++in_a_row_ < (success ? healthy_after_ : unhealthy_after_)) return false;
    in_a_row_ = 0;
    state_ = said;
    return true;
  }

  HealthState state() const { return state_; }
  // Takes over the state of the same server in the former configuration.
  void adopt(HealthState state) {
    state_ = state;
    in_a_row_ = 0;
  }

 private:
  std::uint32_t healthy_after_;
  std::uint32_t unhealthy_after_;
  HealthState state_ = HealthState::unknown;
  bool last_ = false;
  std::uint32_t in_a_row_ = 0;  // equal results that contradict the state
};

}  // namespace spillway::resilience
