#include "simulate/scenario.hpp"

#include <string>

#include "traffic/classify.hpp"

namespace spillway::simulate {

RouteId route_of(const Scenario& scenario, const Clients& clients) {
  const auto last = static_cast<std::uint32_t>(scenario.config.routes.size() - 1);
  return clients.route.value_or(RouteId{last});
}

ClassId class_of(const Scenario& scenario, const Clients& clients) {
  if (clients.traffic_class) return *clients.traffic_class;
  const config::Tier tier = tier_of(scenario, clients, 0);
  if (tier.traffic_class) return *tier.traffic_class;
  const config::Route& route = scenario.config.routes[index(route_of(scenario, clients))];
  return route.priority ? traffic::class_of_priority(*route.priority, scenario.config.classes)
                        : route.traffic_class;
}

Duration deadline_of(const Scenario& scenario, const Clients& clients) {
  if (clients.deadline) return *clients.deadline;
  const config::Route& route = scenario.config.routes[index(route_of(scenario, clients))];
  return route.deadline.value_or(scenario.config.classes[index(class_of(scenario, clients))].sla);
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
