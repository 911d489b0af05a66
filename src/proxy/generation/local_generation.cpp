#include "proxy/generation/local_generation.hpp"

#include <utility>

namespace spillway::proxy {

LocalGeneration::LocalGeneration(std::shared_ptr<Generation> shared, const Home& home,
                                 const Plans& plans)
    : metrics(*shared->metrics[home.number]),
      route_cost(shared->config.routes.size()),
      route_latency(shared->config.routes.size()),
      hold_times(shared->config.routes.size()),
      quiet_latency(shared->config.routes.size()),
      shared_(std::move(shared)),
      number_(home.number),
      plans_(plans) {
  for (Upstream& upstream : shared_->upstreams) {
    pools_.emplace_back(home.loop, upstream.connections, upstream.servers.in_flight, metrics);
    circuits_.emplace_back(upstream, home.random, home.log);
    // The ratio applies to each worker's own requests; the minimum rate is divided among workers.
    const config::Retries& retries = upstream.config.retries;
    const auto workers = static_cast<double>(shared_->metrics.size());
    retry_budgets_.emplace_back(resilience::RetryBudget::Limits{
        .ratio = retries.budget_ratio, .min_per_second = retries.budget_per_second / workers});
  }
}

void LocalGeneration::close_idle() {
  for (UpstreamPool& pool : pools_) {
    while (pool.close_one()) {
    }
  }
}

void LocalGeneration::retire() {
  for (UpstreamPool& pool : pools_) pool.disable_keep_alive();
  close_idle();
}

}  // namespace spillway::proxy
