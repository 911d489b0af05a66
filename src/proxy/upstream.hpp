// What all workers share of one upstream: its servers, its gate, its connection budget, and the
// shards into which each worker writes what it sees.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "config/config.hpp"
#include "overload/budgets.hpp"
#include "overload/shard.hpp"
#include "proxy/endpoint.hpp"
#include "proxy/gate.hpp"
#include "proxy/upstream_pool.hpp"

namespace spillway::proxy {

struct Upstream {
  // Resolves the servers; throws std::runtime_error.
  Upstream(const config::Upstream& settings, const config::Config& whole, std::size_t workers)
      : config(settings),
        gate(settings.dispatch, whole.classes),
        budgets(whole, settings),
        connections(settings.dispatch.concurrency + static_cast<std::uint32_t>(workers),
                    settings.idle_connections),
        shards(workers) {
    for (const auto& server : settings.servers) endpoints.push_back(resolve(server));
    for (auto& shard : shards) shard = std::make_unique<overload::SignalShard>();
  }

  const config::Upstream& config;
  std::vector<Endpoint> endpoints;
  Gate gate;
  overload::Budgets budgets;
  ConnectionBudget connections;
  std::vector<std::unique_ptr<overload::SignalShard>> shards;  // by worker
  // False from a request that could connect to no server until one that could.
  std::atomic<bool> reachable{true};
};

}  // namespace spillway::proxy
