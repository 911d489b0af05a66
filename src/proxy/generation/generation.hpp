// One generation: a configuration and the objects built from it that all workers share: classifier,
// upstreams with their gates, caches and fallbacks of the routes, metrics.
//
// A reload creates the next generation. The former one lives until no worker has a LocalGeneration
// of it, that is, until the last request pinned to it has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sip_hash.hpp"
#include "config/config.hpp"
#include "http/field/identity.hpp"
#include "observe/count/worker_metrics.hpp"
#include "overload/admission/tenant_budgets.hpp"
#include "proxy/generation/read_configuration.hpp"
#include "proxy/generation/route_responses.hpp"
#include "proxy/upstream/upstream.hpp"
#include "proxy/waiting/shared_waiting_room.hpp"
#include "proxy/waiting/visitor_cookies.hpp"
#include "traffic/classify/classify.hpp"
#include "traffic/trusted_token/trusted_tokens.hpp"

namespace spillway::proxy {

// State of the process that every generation uses. Seed and key are secret (clients choose the
// texts that are hashed) and constant, so that tenant ids and cache keys survive a reload.
struct ProcessContext {
  std::uint64_t tenant_seed = 0;
  SipKey cache_key{};
  std::vector<std::shared_ptr<observe::WorkerGauges>> workers;
  std::shared_ptr<VisitorContext> visitors;
};

struct Generation {
  // `former`: the previous generation, null for the first. Upstreams of the same name share their
  // slots, and caches carry over (see RouteResponses).
  Generation(config::Config settings, Endpoints endpoints, const ProcessContext& process,
             const Generation* former = nullptr)
      : number(former == nullptr ? 1 : former->number + 1),
        config(std::move(settings)),
        classifier(config, process.tenant_seed),
        trusted_tokens(config.trusted_tokens),
        path_key(process.cache_key),
        protected_fields(config),
        tenant_budgets(config.tenants),
        route_responses(config, process.cache_key,
                        former == nullptr ? nullptr : &former->route_responses),
        waiting_rooms(waiting_rooms_of(config, process.visitors,
                                       former == nullptr ? nullptr : &former->waiting_rooms)),
        visitor_cookies(waiting_rooms, config.routes) {
    for (const config::Upstream& upstream : config.upstreams) {
      upstreams.emplace_back(config, upstream, std::move(endpoints[upstreams.size()]),
                             process.workers.size(),
                             former == nullptr ? nullptr : former->find(upstream.name));
    }
    for (const auto& gauges : process.workers)
      metrics.push_back(std::make_unique<observe::WorkerMetrics>(config, gauges));
  }
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  RouteId default_route() const {
    return RouteId(static_cast<std::uint32_t>(config.routes.size() - 1));
  }

  // By name; null if there is none.
  const Upstream* find(std::string_view upstream) const {
    for (const Upstream& each : upstreams) {
      if (each.config.name == upstream) return &each;
    }
    return nullptr;
  }

  bool has_waiting_rooms() const { return !visitor_cookies.is_empty(); }

  const std::uint64_t number;  // 1, 2, ...
  const config::Config config;
  const traffic::Classifier classifier;
  const traffic::TrustedTokens trusted_tokens;
  const SipKey path_key;  // key for overload::AnswerSource
  const http::ProtectedFields protected_fields;
  const overload::TenantBudgets tenant_budgets;  // full again after a reload
  std::deque<Upstream> upstreams;                // by UpstreamId
  const RouteResponses route_responses;
  const WaitingRooms waiting_rooms;  // by route; null if it has none
  const VisitorCookies visitor_cookies;
  std::vector<std::unique_ptr<observe::WorkerMetrics>> metrics;  // by worker
};

}  // namespace spillway::proxy
