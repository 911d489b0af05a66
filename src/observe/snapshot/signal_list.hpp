// The overload signals with their names in configuration and metrics, in the order of all pages.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/time.hpp"
#include "config/config.hpp"
#include "overload/signals/signals.hpp"

namespace spillway::observe {

struct NamedSignal {
  std::string_view key;         // in the configuration: plain ratios, times end in _ms
  std::string_view label;       // in the metrics: base units, times end in _seconds
  std::optional<double> value;  // a ratio or seconds; nullopt: no evidence
  std::optional<double> enter;  // in the unit of `value`; nullopt: not used
  std::optional<double> exit;
  bool is_time = false;
};

inline std::optional<double> in_seconds(std::optional<Milliseconds> threshold) {
  if (!threshold) return std::nullopt;
  return to_seconds(*threshold);
}

inline std::array<NamedSignal, 8> signal_list(const overload::OverloadSignals& signals,
                                              const config::Thresholds& enter,
                                              const config::Thresholds& exit) {
  return {{
      {"inflight_ratio", "inflight_ratio", signals.inflight_ratio, enter.inflight_ratio,
       exit.inflight_ratio, false},
      {"queue_ratio", "queue_ratio", signals.queue_ratio, enter.queue_ratio, exit.queue_ratio,
       false},
      {"queue_wait_p95_ms", "queue_wait_p95_seconds", signals.queue_wait_p95,
       in_seconds(enter.queue_wait_p95), in_seconds(exit.queue_wait_p95), true},
      {"latency_p95_ms", "latency_p95_seconds", signals.latency_p95, in_seconds(enter.latency_p95),
       in_seconds(exit.latency_p95), true},
      {"latency_p99_ms", "latency_p99_seconds", signals.latency_p99, in_seconds(enter.latency_p99),
       in_seconds(exit.latency_p99), true},
      {"latency_p95_ratio", "latency_p95_ratio", signals.latency_p95_ratio, enter.latency_p95_ratio,
       exit.latency_p95_ratio, false},
      {"event_loop_lag_ms", "event_loop_lag_seconds", signals.event_loop_lag,
       in_seconds(enter.event_loop_lag), in_seconds(exit.event_loop_lag), true},
      {"error_rate", "error_rate", signals.error_rate, enter.error_rate, exit.error_rate, false},
  }};
}

}  // namespace spillway::observe
