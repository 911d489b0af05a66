#include "traffic/classify.hpp"

#include <algorithm>

#include "http/scan.hpp"
#include "traffic/path.hpp"

namespace spillway::traffic {

ClassId class_of_priority(std::uint32_t priority,
                          const std::vector<config::TrafficClass>& classes) {
  const auto weight = [](const config::TrafficClass& one) {
    return one.ingress_weight.value_or(one.weight);
  };
  double total = 0;
  for (const config::TrafficClass& one : classes) total += weight(one);
  const double from_top = (100.0 - std::min(priority, 100u)) / 100.0;
  double band_end = 0;
  for (std::size_t i = 0; i + 1 < classes.size(); ++i) {
    band_end += weight(classes[i]) / total;
    if (from_top < band_end || priority >= 100) return static_cast<ClassId>(i);
  }
  return static_cast<ClassId>(classes.size() - 1);
}

Classifier::Classifier(const config::Config& config)
    : routes_(config.routes), tenant_keys_(config.tenants.key) {
  for (const config::Route& route : config.routes) {
    const ClassId traffic_class =
        route.priority ? class_of_priority(*route.priority, config.classes) : route.traffic_class;
    const Milliseconds deadline = route.deadline.value_or(config.classes[index(traffic_class)].sla);
    facts_.push_back({traffic_class, route.upstream, deadline});
  }
}

RouteId Classifier::route_of(const http::RequestHead& head) const {
  std::array<char, 2 * http::kMaxRequestLine + 2> scratch;
  const NormalisedPath path = normalise(head.path_and_query, scratch);
  const RouteId literal = routes_.match(head.method, head.method_name, head.host, path.literal);
  if (!path.ambiguous()) return literal;
  const RouteId decoded = routes_.match(head.method, head.method_name, head.host, path.decoded);
  // A greater id is a lower class.
  return facts_[index(decoded)].traffic_class > facts_[index(literal)].traffic_class ? decoded
                                                                                     : literal;
}

Subject Classifier::classify(const http::RequestHead& head, std::string_view client_address,
                             bool trusted_peer, TimePoint now) const {
  const RouteId route = route_of(head);
  const RouteFacts& facts = facts_[index(route)];
  return {route, facts.traffic_class, facts.upstream,
          tenant_of(head, tenant_keys_, client_address, trusted_peer), now + facts.deadline};
}

}  // namespace spillway::traffic
