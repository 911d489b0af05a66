// A server of an upstream as JSON, for /state.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "config/config.hpp"
#include "observe/snapshot/snapshot.hpp"

namespace spillway::observe {

inline nlohmann::ordered_json server_report(const config::Upstream& configured,
                                            const std::string& name, const ServerSnapshot& now) {
  using Json = nlohmann::ordered_json;
  const bool is_checked = configured.health_check.has_value();
  Json last_check = nullptr;
  if (is_checked && now.last_check) {
    last_check = {{"result", observe::name(now.last_check->reason)},
                  {"detail", now.last_check->detail}};
  }
  const char* const circuit = now.open_circuits == 0 ? "closed" : "open";
  return {{"name", name},
          {"address", now.address},
          {"up", now.is_up},
          {"health", is_checked ? Json(resilience::name(now.health)) : Json(nullptr)},
          {"last_check", std::move(last_check)},
          {"ejected_for_ms", std::round(to_seconds(now.ejected_for) * 1e6) / 1e3},
          {"inflight", now.in_flight},
          {"circuit", configured.circuit_breaker ? Json(circuit) : Json(nullptr)}};
}

}  // namespace spillway::observe
