// One configuration and what is computed from it once: everything about it that requests read.
// Immutable; shared by all workers.
#pragma once

#include <cstdint>
#include <utility>

#include "config/config.hpp"
#include "traffic/classify.hpp"

namespace spillway::proxy {

struct Generation {
  // The seed is secret, and one for all generations: a tenant keeps its id.
  Generation(config::Config settings, std::uint64_t seed)
      : config(std::move(settings)), classifier(config, seed) {}

  RouteId default_route() const {
    return RouteId(static_cast<std::uint32_t>(config.routes.size() - 1));
  }

  const config::Config config;
  const traffic::Classifier classifier;
};

}  // namespace spillway::proxy
