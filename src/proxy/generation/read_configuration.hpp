// Reads a configuration: the file, and DNS lookups for the servers it names.
//
// Both may block for long or for ever, for instance with a file on a network file system, or a name
// server that does not answer.
#pragma once

#include <optional>
#include <vector>

#include "config/file/load.hpp"
#include "proxy/net/endpoint.hpp"

namespace spillway::proxy {

using Endpoints = std::vector<std::vector<Endpoint>>;  // by upstream, by server

struct ReadConfiguration {
  std::optional<config::Config> config;  // only if there are no problems
  Endpoints endpoints;
  config::Problems problems;
};

// Resolves every server. A server without an address, or with the address of the listener itself,
// is a problem.
ReadConfiguration resolve_servers(config::Config config);

// Calls `load` and resolves the servers. Never throws; an empty `load` is a problem.
ReadConfiguration read_configuration(const config::LoadConfig& load);

}  // namespace spillway::proxy
