#include "config/check/check_defer.hpp"

#include <string>

namespace spillway::config {
namespace {

void check_backoff(const JobBackoff& backoff, const std::string& path, Findings& findings) {
  if (backoff.base <= backoff.max) return;
  findings.report_order(path + ".base_ms", std::to_string(backoff.base.count()), "up to",
                        path + ".max_ms", std::to_string(backoff.max.count()));
}

}  // namespace

void check_defer(const Config& config, Findings& findings) {
  check_backoff(config.jobs.backoff, "$.jobs.backoff", findings);
  for (std::size_t i = 0; i < config.routes.size(); ++i) {
    const Route& route = config.routes[i];
    if (!route.defer) continue;
    const std::string path = route_path(i, config.routes.size()) + ".defer";
    if (findings.is_given(path + ".backoff"))
      check_backoff(route.defer->backoff, path + ".backoff", findings);
    if (config.own_path.empty()) {
      findings.report(path, "a deferred request is asked after below $.own_path, which is empty",
                      "$.own_path");
    }
  }
}

}  // namespace spillway::config
