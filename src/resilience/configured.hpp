// The limits of retries, circuit breakers and ejection, converted from an upstream's configuration
// for the proxy and the simulator.
#pragma once

#include <cstddef>

#include "config/config.hpp"
#include "resilience/backoff.hpp"
#include "resilience/circuit_breaker.hpp"
#include "resilience/ejection.hpp"

namespace spillway::resilience {

// The pauses before retries: with jitter, so that requests do not retry in phase.
Backoff retry_backoff(const config::Retries& settings);
CircuitBreakerLimits circuit_breaker_limits(const config::CircuitBreaker& settings);
// max_ejected is not set if no number of failures ejects a server.
EjectionLimits ejection_limits(const config::Ejection& settings, std::size_t servers);

}  // namespace spillway::resilience
