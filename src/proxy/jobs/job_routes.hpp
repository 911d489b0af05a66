// The routes with `defer` in the configuration in force, for the thread that pulls jobs.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "config/config.hpp"
#include "proxy/generation/generation.hpp"

namespace spillway::proxy {

struct JobRoute {
  config::Defer defer;
  UpstreamId upstream{};
};

// By name. Keeps the generation alive.
struct JobRoutes {
  std::shared_ptr<Generation> generation;
  std::map<std::string, JobRoute, std::less<>> routes;

  Upstream& upstream(const JobRoute& route) const {
    return generation->upstreams[index(route.upstream)];
  }
};

inline JobRoutes job_routes(std::shared_ptr<Generation> generation) {
  JobRoutes out{std::move(generation), {}};
  for (const config::Route& route : out.generation->config.routes)
    if (route.defer) out.routes[route.name] = {*route.defer, route.upstream};
  return out;
}

}  // namespace spillway::proxy
