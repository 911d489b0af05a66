// One configuration with everything that is made from it and shared by all workers: what requests
// are classified by, the upstreams with their gates, the answers that need no upstream, the counts.
//
// Lives as long as a worker has a part of it (LocalGeneration); a reload makes the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "observe/worker_metrics.hpp"
#include "proxy/generation/read_configuration.hpp"
#include "proxy/generation/route_responses.hpp"
#include "proxy/upstream/upstream.hpp"
#include "traffic/classify.hpp"
#include "traffic/sip_hash.hpp"

namespace spillway::proxy {

// What all generations of a process have in common. The seed and the key are secret; with the same
// ones a tenant keeps its id.
struct Lineage {
  std::uint64_t tenant_seed = 0;
  traffic::SipKey cache_key{};
  std::vector<std::shared_ptr<observe::WorkerGauges>> workers;
};

struct Generation {
  // Where `former` (null: this is the first) has an upstream of the same name, its slots stay the
  // same, and what is stored stays.
  Generation(config::Config settings, Endpoints endpoints, const Lineage& lineage,
             const Generation* former = nullptr)
      : number(former == nullptr ? 1 : former->number + 1),
        config(std::move(settings)),
        classifier(config, lineage.tenant_seed),
        answers(config, lineage.cache_key, former == nullptr ? nullptr : &former->answers) {
    for (const config::Upstream& upstream : config.upstreams) {
      upstreams.emplace_back(config, upstream, std::move(endpoints[upstreams.size()]),
                             lineage.workers.size(),
                             former == nullptr ? nullptr : former->find(upstream.name));
    }
    for (const auto& gauges : lineage.workers)
      metrics.push_back(std::make_unique<observe::WorkerMetrics>(config, gauges));
  }
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  RouteId default_route() const {
    return RouteId(static_cast<std::uint32_t>(config.routes.size() - 1));
  }

  // Null when there is none of that name.
  const Upstream* find(std::string_view upstream) const {
    for (const Upstream& each : upstreams) {
      if (each.config.name == upstream) return &each;
    }
    return nullptr;
  }

  const std::uint64_t number;  // 1, 2, ...
  const config::Config config;
  const traffic::Classifier classifier;
  std::deque<Upstream> upstreams;  // by UpstreamId
  const RouteResponses answers;
  std::vector<std::unique_ptr<observe::WorkerMetrics>> metrics;  // by worker
};

}  // namespace spillway::proxy
