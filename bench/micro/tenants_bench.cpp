// Fairness between tenants: counting a request, a worker's sweep, the tick that finds tenants
// above their share, and a decision that looks its tenant up.
#include <memory>
#include <string>
#include <vector>

#include "crowd.hpp"
#include "overload/admission/budgets.hpp"
#include "overload/admission/decide.hpp"
#include "overload/admission/plan.hpp"
#include "overload/control/tenant_share.hpp"
#include "overload/signals/tenant_shard.hpp"
#include "site.hpp"
#include "suite.hpp"

namespace spillway::micro {
namespace {

using overload::TenantShard;

constexpr ClassId kLowest{2};

struct Overloaded {
  config::Config config = site(10);
  overload::RuleTables rules{config, config.upstreams.front()};
  overload::TenantShare share{config};
  std::vector<std::uint32_t> queued{0, 0, 100};
  TimePoint now = TimePoint{} + std::chrono::hours(1);

  std::shared_ptr<const overload::TenantExcess> tick(std::span<const TenantShard* const> shards) {
    now += config.overload.tick;
    share.note_queues(queued, now);
    return share.judge(shards, *rules.of(State::overloaded), Reason::queue_saturation);
  }
};

double offered(const TenantShard& shard) {
  std::vector<overload::TenantDemand> demands;
  return shard.read(kLowest, demands).offered;
}

void record(benchmark::State& state, std::size_t tenants, Crowd crowd) {
  auto& [requests, shard] = crowded(tenants, crowd);
  const double before = offered(*shard);
  std::size_t next = 0;
  for (auto _ : state) {
    shard->record_offered(kLowest, requests[next++ % requests.size()], 1);
    benchmark::ClobberMemory();
  }
  shard->publish(TimePoint{} + std::chrono::hours(1));
  if (offered(*shard) != before + static_cast<double>(next))
    state.SkipWithError("requests were not counted");
}

void publish(benchmark::State& state) {
  const auto shard = shard_after(crowded(1000000, Crowd::skewed).requests);
  TimePoint now = TimePoint{} + std::chrono::hours(1);
  for (auto _ : state) shard->publish(now += std::chrono::microseconds(1));
  std::vector<overload::TenantDemand> demands;
  shard->read(kLowest, demands);
  if (demands.empty()) state.SkipWithError("nothing was published");
}

void tick(benchmark::State& state, std::size_t workers) {
  const auto& shard = crowded(1000000, Crowd::skewed).shard;
  const std::vector<const TenantShard*> shards(workers, shard.get());
  Overloaded upstream;
  bool some = true;
  for (auto _ : state) some = upstream.tick(shards) != nullptr && some;
  if (!some) state.SkipWithError("nobody was above its share");
}

void decide(benchmark::State& state, std::size_t tenants) {
  const auto& [requests, shard] = crowded(tenants, Crowd::skewed);
  const std::vector<const TenantShard*> shards{shard.get()};
  Overloaded upstream;
  const auto plan = std::make_unique<overload::AdmissionPlan>(
      State::overloaded, Reason::queue_saturation, upstream.rules.of(State::overloaded),
      upstream.tick(shards));
  overload::Budgets budgets(upstream.config, upstream.config.upstreams.front());
  Random random(3);
  const TimePoint now = TimePoint{} + std::chrono::hours(1);
  std::size_t next = 0, above = 0;
  for (auto _ : state) {
    const overload::AdmissionPlan* present = plan.get();
    benchmark::DoNotOptimize(present);
    const overload::AdmissionRequest one{RouteId(next % 10), kLowest,
                                         requests[next % requests.size()]};
    ++next;
    const auto verdict = overload::decide(*present, budgets, one, now, random);
    benchmark::DoNotOptimize(verdict.retry_after);
    above += verdict.reason == Reason::tenant_share ? 1 : 0;
  }
  // A single tenant is never above its share.
  if (next > 1000 && (above > 0) != (tenants > 1))
    state.SkipWithError("tenants were not held to their share");
}

}  // namespace

void add_tenants(Suite& suite) {
  const auto named = [](std::size_t tenants) {
    return size_name(tenants) + (tenants == 1 ? " tenant" : " tenants");
  };
  for (const std::size_t tenants : {1, 10, 100, 1000, 10000, 100000, 1000000}) {
    suite.add("decide/OVERLOADED, " + named(tenants), 50,
              [tenants](benchmark::State& state) { decide(state, tenants); });
  }
  for (const Crowd crowd : {Crowd::skewed, Crowd::uniform}) {
    for (const std::size_t tenants : {1, 10, 100, 1000, 10000, 100000, 1000000}) {
      suite.add("tenants/count, " + named(tenants) + (crowd == Crowd::uniform ? " alike" : ""),
                std::nullopt, [=](benchmark::State& state) { record(state, tenants, crowd); });
    }
  }
  suite.add("tenants/sweep of a worker, 10^6 tenants", std::nullopt, publish);
  for (const std::size_t workers : {1, 8}) {
    suite.add("tenants/tick, " + std::to_string(workers) + (workers == 1 ? " worker" : " workers") +
                  ", 10^6 tenants",
              std::nullopt, [workers](benchmark::State& state) { tick(state, workers); });
  }
}

}  // namespace spillway::micro
