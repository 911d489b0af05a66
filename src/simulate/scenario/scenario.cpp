#include "simulate/scenario/scenario.hpp"

#include <algorithm>
#include <string>

#include "traffic/classify/classify.hpp"

namespace spillway::simulate {

double thrashing(const Backend& backend, double inside) {
  const double knee = backend.thrash_knee;
  return knee > 0 ? 1 + backend.thrash_slope * std::max(0.0, inside - knee) / knee : 1;
}

// n / thrashing(n) rises up to the knee, and beyond it only if the slope is below 1.
double best_of(const Backend& backend, std::uint32_t slots) {
  const auto at = [&](double inside) { return inside / thrashing(backend, inside); };
  return std::max(at(slots), at(std::min<double>(slots, backend.thrash_knee)));
}

double best_of(const Backend& backend) {
  if (backend.servers.empty()) return best_of(backend, backend.slots);
  double most = 0;
  for (const Server& server : backend.servers)
    most += best_of(backend, server.slots) * server.speed;
  return most;
}

RouteId route_of(const Scenario& scenario, const Clients& clients) {
  const auto last = static_cast<std::uint32_t>(scenario.config.routes.size() - 1);
  return clients.route.value_or(RouteId{last});
}

ClassId class_of(const Scenario& scenario, const Clients& clients) {
  if (clients.traffic_class) return *clients.traffic_class;
  const config::Tier tier = tier_of(scenario, clients, 0);
  if (tier.traffic_class) return *tier.traffic_class;
  const config::Route& route = scenario.config.routes[index(route_of(scenario, clients))];
  if (!route.priority) return route.traffic_class;
  return traffic::class_of_priority(*route.priority, scenario.config.classes,
                                    scenario.config.priority_max);
}

config::Tier tier_of(const Scenario& scenario, const Clients& clients, std::uint32_t number) {
  const std::string name = tenant_name(clients, number);
  if (name.empty()) return {};
  for (const config::NamedTenant& one : config::named_tenants(scenario.config.tenants.api_keys)) {
    if (one.name == name) return one.tier;
  }
  return {};
}

std::string tenant_name(const Clients& clients, std::uint32_t number) {
  return clients.tenants == 1 ? clients.tenant : clients.tenant + "-" + std::to_string(number + 1);
}

}  // namespace spillway::simulate
