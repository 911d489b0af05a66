// Names of classes and routes if a scenario was written for another configuration.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/problem.hpp"
#include "simulate/scenario/scenario.hpp"

namespace spillway::simulate {

// The names that clients of a scenario may use: those of the configuration that is simulated, then
// those that only the scenario's own configuration has.
struct Names {
  std::vector<std::string> classes;
  std::vector<std::string> routes;
};
Names names_of(const config::Config& played, const config::Config& written_for);

// Translates clients with names of the second kind: their class becomes the one of the same rank
// (the highest is the highest, the lowest the lowest), their route the default route; a class that
// followed from their route is kept in this way. Returns a warning for each name.
config::Problems translate(std::vector<Clients>& clients, const config::Config& played,
                           const config::Config& written_for);

}  // namespace spillway::simulate
