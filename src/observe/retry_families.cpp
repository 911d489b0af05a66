#include "observe/retry_families.hpp"

#include <cstdint>
#include <string>

#include "observe/metric_family.hpp"
#include "observe/retry_result.hpp"

namespace spillway::observe {

prometheus::MetricFamily retries(const config::Config& config, Workers workers) {
  prometheus::MetricFamily result =
      family("spillway_retries_total", prometheus::MetricType::Counter,
             "Requests sent to an upstream again: sent counts attempts, success requests that one "
             "of them got an answer for, no_budget those that failed for lack of a budget, stale "
             "fresh connections in place of a kept one that was closed.");
  for (std::size_t u = 0; u < config.upstreams.size(); ++u) {
    for (std::size_t r = 0; r < kRetryResultCount; ++r) {
      std::uint64_t total = 0;
      for (const WorkerMetrics* worker : workers)
        total +=
            worker->retries(UpstreamId(static_cast<std::uint16_t>(u)), static_cast<RetryResult>(r));
      add_counter(result,
                  {{"upstream", config.upstreams[u].name},
                   {"result", std::string(name(static_cast<RetryResult>(r)))}},
                  static_cast<double>(total));
    }
  }
  return result;
}

}  // namespace spillway::observe
