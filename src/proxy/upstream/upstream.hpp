// One upstream, as shared by all workers: servers, gate, budgets, and the shards into which each
// worker records its signals.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "overload/admission/budgets.hpp"
#include "overload/admission/retry_booking.hpp"
#include "overload/control/controller.hpp"
#include "overload/signals/shard.hpp"
#include "overload/signals/tenant_shard.hpp"
#include "proxy/net/endpoint.hpp"
#include "proxy/upstream/dead_letter_queue.hpp"
#include "proxy/upstream/gate.hpp"
#include "proxy/upstream/jobs_by_rank.hpp"
#include "proxy/upstream/overload_status.hpp"
#include "proxy/upstream/servers.hpp"
#include "proxy/upstream/tenant_names.hpp"
#include "proxy/upstream/upstream_pool.hpp"

namespace spillway::proxy {

// The connection limit. In shadow mode requests exceed the slots: one per client.
inline std::uint32_t most_connections(const config::Config& all, const config::Upstream& settings,
                                      std::size_t workers) {
  const std::uint32_t slots = settings.dispatch.concurrency;
  const bool is_shadow = settings.overload.mode == config::Mode::shadow;
  return spare_connections(workers, settings.servers.size()) +
         (is_shadow ? std::max(all.limits.connections, slots) : slots);
}

struct Upstream {
  // `former`: the upstream of the same name in the previous configuration, null if there is none.
  // Its slots are shared, its servers' health and ejections carry over.
  Upstream(const config::Config& all, const config::Upstream& settings,
           std::vector<Endpoint> its_endpoints, std::size_t workers,
           const Upstream* former = nullptr)
      : config(settings),
        endpoints(std::move(its_endpoints)),
        servers(settings),
        gate(settings.dispatch, all.classes,
             former != nullptr ? former->gate.slots() : std::make_shared<Slots>(),
             settings.overload.regulate,
             settings.overload.mode == config::Mode::shadow ? all.routes.size() : 0,
             settings.servers.size() > 1 ? &servers : nullptr),
        controller(all, settings),
        overload_status(controller, Clock::now()),
        budgets(all, settings),
        returns(all.classes.size()),
        dead_letters(settings.dispatch),
        connections(most_connections(all, settings, workers), settings.idle_connections),
        shards(workers) {
    if (former != nullptr) adopt(*former);
    for (std::size_t n = 0; n < workers; ++n) {
      shards[n] = std::make_unique<overload::SignalShard>();
      tenant_shards.push_back(std::make_unique<overload::TenantShard>(all));
    }
  }

  // The last connection attempt succeeded (or none was made yet), and a server is up.
  bool is_live() { return reachable.load() && !servers.up().empty(); }

  // The slots that are divided among the servers; in shadow mode, in which requests exceed them, so
  // many that no server lacks room.
  std::uint32_t divided_slots() const {
    const bool is_shadow = config.overload.mode == config::Mode::shadow;
    return is_shadow ? std::numeric_limits<std::uint32_t>::max() : gate.limit_of_all();
  }

  const config::Upstream& config;
  std::vector<Endpoint> endpoints;  // by server
  Servers servers;
  Gate gate;
  overload::Controller controller;  // control thread only, once it runs
  OverloadStatus overload_status;
  overload::Budgets budgets;
  overload::RetryBooking returns;  // of refused requests; measured by the control thread
  DeadLetterQueue dead_letters;
  TenantNames tenant_names;
  ConnectionBudget connections;
  std::vector<std::unique_ptr<overload::SignalShard>> shards;         // by worker
  std::vector<std::unique_ptr<overload::TenantShard>> tenant_shards;  // likewise
  // Cleared by a request that could connect to no server, set by the next successful connection.
  std::atomic<bool> reachable{true};
  JobsByRank running_jobs;  // jobs that have a slot
  JobsByRank held_jobs;     // jobs that their route's rate does not let wait for a slot yet
  // Circuits that are not closed, over all servers and workers.
  std::atomic<std::uint32_t> open_circuits{0};
  std::atomic<std::uint32_t> refused{0};  // requests, for lack of room; only grows, and may wrap

 private:
  void adopt(const Upstream& former);
};

}  // namespace spillway::proxy
