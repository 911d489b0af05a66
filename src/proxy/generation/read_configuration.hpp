// A configuration as it is read to be put into effect: the file, and the addresses of the servers
// that it names.
//
// Both may take long, or for ever: a file in a network, a name server that does not answer.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "config/load.hpp"
#include "proxy/net/endpoint.hpp"

namespace spillway::proxy {

using LoadConfig = std::function<config::LoadResult()>;
using Endpoints = std::vector<std::vector<Endpoint>>;  // by upstream, by server

struct ReadConfiguration {
  std::optional<config::Config> config;  // only when there is no problem at all
  Endpoints endpoints;
  config::Problems problems;
};

// Looks up every server. One that has no address, or whose name turns out to be that of the
// listener itself, is a problem with its path.
ReadConfiguration look_up_servers(config::Config config);

// What `load` gives, with its servers looked up. Never throws; without `load` that is the problem.
ReadConfiguration read_configuration(const LoadConfig& load);

// What is thrown where a configuration has to be right.
struct BadConfiguration : std::runtime_error {
  explicit BadConfiguration(config::Problems its_problems)
      : std::runtime_error(its_problems.front().path + ": " + its_problems.front().message),
        problems(std::move(its_problems)) {}
  config::Problems problems;  // at least one
};

}  // namespace spillway::proxy
