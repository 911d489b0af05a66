#include "proxy/generation/local_generation.hpp"

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "config/same_route.hpp"

namespace spillway::proxy {

LocalGeneration::LocalGeneration(std::shared_ptr<Generation> shared, const Home& home,
                                 const Plans& plans)
    : metrics(*shared->metrics[home.number]),
      route_cost(shared->config.routes.size()),
      class_cost(shared->config.routes.size(), shared->config.priority_max),
      route_latency(shared->config.routes.size()),
      service_time(shared->config.routes.size()),
      hold_times(shared->config.routes.size()),
      quiet_latency(shared->config.routes.size()),
      shared_(std::move(shared)),
      number_(home.number),
      plans_(plans) {
  for (Upstream& upstream : shared_->upstreams) {
    upstreams_.push_back(&upstream);
    pools_.emplace_back(home.loop, upstream.connections, upstream.servers.in_flight, metrics);
    circuits_.emplace_back(upstream, home.random, home.log);
    // The ratio applies to each worker's own requests; the minimum rate is divided among workers.
    const config::Retries& retries = upstream.config.retries;
    const auto workers = static_cast<double>(shared_->metrics.size());
    retry_budgets_.emplace_back(resilience::RetryBudget::Limits{
        .ratio = retries.budget_ratio, .min_per_second = retries.budget_per_second / workers});
  }
}

// Looks routes up by name: this runs on the worker's thread, where comparing all pairs is slow.
void LocalGeneration::continue_from(const LocalGeneration& former) {
  const config::Config& its = former.config();
  std::unordered_map<std::string_view, std::uint32_t> by_name;
  for (std::uint32_t r = 0; r < its.routes.size(); ++r) by_name.emplace(its.routes[r].name, r);
  for (std::uint32_t r = 0; r < config().routes.size(); ++r) {
    const config::Route& route = config().routes[r];
    const auto found = by_name.find(route.name);
    if (found != by_name.end() &&
        config::is_same_route(config(), route, its, its.routes[found->second]))
      quiet_latency.continue_from(RouteId(r), former.quiet_latency, RouteId(found->second));
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
