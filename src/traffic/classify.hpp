// Who is asking, and for what: the facts that admission and dispatch decide on.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "http/head.hpp"
#include "traffic/routes.hpp"
#include "traffic/tenant.hpp"

namespace spillway::traffic {

struct Subject {
  RouteId route{};
  ClassId traffic_class{};
  UpstreamId upstream{};
  Tenant tenant;
  TimePoint deadline;  // after which the answer is of no use
};

// The class of a numeric priority, 100 the highest: [0, 100] is cut, from the top, into one band
// per class with widths in proportion to the ingress weights (by default the weights), so
// equal weights of three classes give 67-100, 34-66, 0-33. 100 is always the first class and 0 the
// last; more than 100 counts as 100.
ClassId class_of_priority(std::uint32_t priority, const std::vector<config::TrafficClass>& classes);

class Classifier {
 public:
  // Throws std::invalid_argument as RouteTable does.
  explicit Classifier(const config::Config& config);

  // The head has passed request_framing(). Where a path can be read in two ways (an escaped
  // slash, a backslash, an escaped dot) the reading with the lower class counts, so that neither
  // dodges it.
  Subject classify(const http::RequestHead& head, std::string_view client_address,
                   bool trusted_peer, TimePoint now) const;

  const RouteTable& routes() const { return routes_; }

 private:
  struct RouteFacts {
    ClassId traffic_class{};
    UpstreamId upstream{};
    Duration deadline{};
  };

  RouteId route_of(const http::RequestHead& head) const;

  RouteTable routes_;
  std::vector<RouteFacts> facts_;  // by RouteId
  std::vector<config::TenantKey> tenant_keys_;
};

}  // namespace spillway::traffic
