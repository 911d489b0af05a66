// Checks of `store`, `jobs` and the routes' `defer`.
#include <string>

#include "config/check/checks.hpp"

namespace spillway::config {
namespace {

void check_backoff(const JobBackoff& backoff, const std::string& path, Findings& findings) {
  findings.check_order(path + ".base_ms", backoff.base, path + ".max_ms", backoff.max);
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
