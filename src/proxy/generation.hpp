// One configuration and what is computed from it once: everything about it that requests read.
// Immutable; shared by all workers.
#pragma once

#include <utility>

#include "config/config.hpp"
#include "traffic/classify.hpp"
#include "traffic/peers.hpp"

namespace spillway::proxy {

struct Generation {
  explicit Generation(config::Config settings)
      : config(std::move(settings)), classifier(config), trusted_peers(config.trusted_peers) {}

  RouteId default_route() const {
    return RouteId(static_cast<std::uint32_t>(config.routes.size() - 1));
  }

  const config::Config config;
  const traffic::Classifier classifier;
  const traffic::TrustedPeers trusted_peers;
};

}  // namespace spillway::proxy
