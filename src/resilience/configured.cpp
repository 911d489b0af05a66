#include "resilience/configured.hpp"

namespace spillway::resilience {

namespace {
constexpr double kRetryJitter = 0.5;
}

Backoff retry_backoff(const config::Retries& settings) {
  return {.base = settings.backoff, .cap = settings.max_backoff, .jitter = kRetryJitter};
}

CircuitBreakerLimits circuit_breaker_limits(const config::CircuitBreaker& settings) {
  CircuitBreakerLimits limits;
  limits.consecutive_failures = settings.consecutive_failures;
  limits.failure_rate = settings.failure_rate;
  limits.min_samples = settings.min_samples;
  limits.window = settings.window;
  limits.open_for.base = settings.open;
  limits.open_for.cap = settings.max_open;
  return limits;
}

EjectionLimits ejection_limits(const config::Ejection& settings, std::size_t servers) {
  const bool is_on = settings.consecutive_failures > 0;
  return {.consecutive_failures = settings.consecutive_failures,
          .base = settings.base,
          .max = settings.max,
          .max_ejected = is_on ? max_ejected(settings.max_ejected_ratio, servers) : 0};
}

}  // namespace spillway::resilience
