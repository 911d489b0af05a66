// Whether routes of two configurations are the same route before and after a reload: then what was
// learned or stored for one is valid for the other.
#pragma once

#include "config/config.hpp"

namespace spillway::config {

// They have the same name, match the same requests and send them to the upstream of the same name.
inline bool is_same_route(const Config& config, const Route& route, const Config& other_config,
                          const Route& other) {
  return route.name == other.name && route.match == other.match &&
         config.upstreams[index(route.upstream)].name ==
             other_config.upstreams[index(other.upstream)].name;
}

}  // namespace spillway::config
