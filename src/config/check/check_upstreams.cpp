// Checks of an upstream's servers and of the keys about their failures.
#include <algorithm>
#include <string>
#include <vector>

#include "config/check/checks.hpp"
#include "config/check/own_address.hpp"

namespace spillway::config {
namespace {

void check_circuit_breaker(const CircuitBreaker& breaker, const std::string& path,
                           Findings& findings) {
  if (breaker.consecutive_failures == 0 && breaker.failure_rate == 0) {
    findings.report(path + ".consecutive_failures",
                    "found 0, and " + path + ".failure_rate is 0: the circuit would never open",
                    path + ".failure_rate");
  }
  findings.check_order(path + ".open_ms", breaker.open, path + ".max_open_ms", breaker.max_open);
}

void check_health_check(HealthCheck& check, const std::string& path, Findings& findings) {
  if (!findings.is_given(path + ".timeout_ms"))
    check.timeout = std::min(check.timeout, check.interval);
  findings.check_order(path + ".min_status", check.min_status, path + ".max_status",
                       check.max_status);
  findings.check_order(path + ".timeout_ms", check.timeout, path + ".interval_ms", check.interval);
}

// Names are compared as written; they are resolved when the configuration takes effect.
void check_loop(const Config& config, const std::vector<std::string>& servers,
                const std::string& path, Findings& findings) {
  for (std::size_t i = 0; i < servers.size(); ++i) {
    const std::string found = "found " + shown(servers[i]) + ", where ";
    if (is_own_server(address_of(config.listen), servers[i])) {
      findings.report(element(path, i),
                      found + "$.listen accepts: requests would come back for ever",
                      "$.listen.port");
    } else if (is_own_server(address_of(config.admin), servers[i])) {
      findings.report(element(path, i),
                      found + "$.admin accepts: the admin listener would be open to all clients",
                      "$.admin.port");
    }
  }
}

}  // namespace

void check_upstreams(Config& config, Findings& findings) {
  for (std::size_t i = 0; i < config.upstreams.size(); ++i) {
    const std::string path = element("$.upstreams", i);
    Upstream& upstream = config.upstreams[i];
    check_loop(config, upstream.servers, path + ".servers", findings);
    if (upstream.circuit_breaker) {
      check_circuit_breaker(*upstream.circuit_breaker, path + ".circuit_breaker", findings);
    }
    if (upstream.health_check) {
      check_health_check(*upstream.health_check, path + ".health_check", findings);
    }
    findings.check_order(path + ".ejection.base_ms", upstream.ejection.base,
                         path + ".ejection.max_ms", upstream.ejection.max);
    findings.check_order(path + ".retries.backoff_ms", upstream.retries.backoff,
                         path + ".retries.max_backoff_ms", upstream.retries.max_backoff);
  }
}

}  // namespace spillway::config
