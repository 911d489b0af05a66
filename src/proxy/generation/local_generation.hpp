// One worker's part of a generation: connection pools, circuits, retry budgets, current admission
// plans. A request pins the part that is current when it begins (LocalGenerationPtr) and uses that
// configuration to its end. Destroyed with its last pin. Worker thread only.
#pragma once

#include <boost/intrusive/list.hpp>
#include <boost/intrusive_ptr.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "dispatch/estimate/class_cost.hpp"
#include "dispatch/estimate/hold_times.hpp"
#include "dispatch/estimate/quiet_latency.hpp"
#include "dispatch/estimate/route_cost.hpp"
#include "dispatch/estimate/route_latency.hpp"
#include "observe/count/worker_metrics.hpp"
#include "observe/log/log.hpp"
#include "overload/admission/plan.hpp"
#include "proxy/generation/generation.hpp"
#include "proxy/upstream/circuits.hpp"
#include "proxy/upstream/upstream_pool.hpp"
#include "resilience/retry_budget.hpp"
#include "traffic/trusted_token/token_cache.hpp"

namespace spillway::proxy {

using Plans = std::vector<std::shared_ptr<const overload::AdmissionPlan>>;  // by UpstreamId

class LocalGeneration : public boost::intrusive::list_base_hook<
                            boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  // The parts of its worker that it uses; the worker outlives it.
  struct Home {
    std::size_t number;
    EventLoop& loop;
    Random& random;
    observe::Log& log;
  };

  LocalGeneration(std::shared_ptr<Generation> shared, const Home& home, const Plans& plans);
  LocalGeneration(const LocalGeneration&) = delete;
  LocalGeneration& operator=(const LocalGeneration&) = delete;

  const Generation& generation() const { return *shared_; }
  const std::shared_ptr<Generation>& shared() const { return shared_; }
  const config::Config& config() const { return shared_->config; }
  Upstream& upstream(UpstreamId id) { return *upstreams_[index(id)]; }
  overload::SignalShard& signals(UpstreamId id) { return *upstream(id).shards[number_]; }
  overload::TenantShard& tenants(UpstreamId id) { return *upstream(id).tenant_shards[number_]; }
  UpstreamPool& pool(UpstreamId id) { return pools_[index(id)]; }
  std::deque<UpstreamPool>& pools() { return pools_; }
  Circuits& circuits(UpstreamId id) { return circuits_[index(id)]; }
  resilience::RetryBudget& retry_budget(UpstreamId id) { return retry_budgets_[index(id)]; }
  const overload::AdmissionPlan& plan(UpstreamId id) const { return *plans_[index(id)]; }
  void publish(UpstreamId id, std::shared_ptr<const overload::AdmissionPlan> plan) {
    plans_[index(id)] = std::move(plan);
  }
  // Null if the route has none.
  cache::ResponseCache* cache(RouteId id) const { return shared_->route_responses.cache(id); }
  const cache::FallbackResponse* fallback(RouteId id) const {
    return shared_->route_responses.fallback(id);
  }
  SharedWaitingRoom* waiting_room(RouteId id) const {
    return shared_->waiting_rooms[index(id)].get();
  }
  bool has_caches() const { return shared_->route_responses.has_caches(); }

  // Keeps what `former` learned at low load about routes that have not changed: the baseline with
  // which their latencies are compared survives a reload too.
  void continue_from(const LocalGeneration& former);

  // Closes all idle upstream connections.
  void close_idle();
  // Replaced: from now on upstream connections are closed instead of kept idle.
  void retire();

  observe::WorkerMetrics& metrics;
  dispatch::RouteCost route_cost;
  dispatch::ClassCost class_cost;
  dispatch::RouteLatency route_latency;  // until the response's head
  dispatch::RouteLatency service_time;   // until the response's end
  dispatch::HoldTimes hold_times;
  dispatch::QuietLatency quiet_latency;
  traffic::TokenCache verified_tokens;  // verified with this generation's keys

 private:
  ~LocalGeneration() { close_idle(); }
  friend void intrusive_ptr_add_ref(LocalGeneration* local) { ++local->references_; }
  friend void intrusive_ptr_release(LocalGeneration* local) {
    if (--local->references_ == 0) delete local;
  }

  std::shared_ptr<Generation> shared_;
  std::size_t number_;
  std::vector<Upstream*> upstreams_;  // those of `shared_`
  std::deque<UpstreamPool> pools_;
  std::deque<Circuits> circuits_;
  std::vector<resilience::RetryBudget> retry_budgets_;
  Plans plans_;
  std::uint32_t references_ = 0;
};

using LocalGenerationPtr = boost::intrusive_ptr<LocalGeneration>;

}  // namespace spillway::proxy
