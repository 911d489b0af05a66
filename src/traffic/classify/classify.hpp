// Classifies a request: route, class, upstream, tenant and deadline, which are the input of
// admission and dispatch.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/due_time.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"
#include "config/config.hpp"
#include "http/message/head.hpp"
#include "traffic/classify/bypass.hpp"
#include "traffic/classify/deadline.hpp"
#include "traffic/client/peers.hpp"
#include "traffic/client/sole_fields.hpp"
#include "traffic/client/tenant.hpp"
#include "traffic/route/routes.hpp"
#include "traffic/trusted_token/visitor_claims.hpp"

namespace spillway::traffic {

// The route of a path that may have several readings (path.hpp). A lower-case method may also be
// taken for the upper-case one. Most frameworks answer HEAD with the handler of GET: unless the
// route of a HEAD names that method, the route of the GET counts as well. Some backends ignore
// case: the class is then no higher than that of the lower-case path, and a waiting room there
// applies; but a path with upper-case letters is usually a different one, and keeps its own route.
struct PathRoute {
  RouteId route{};            // of the reading with the lowest class; otherwise of the first
  ClassId traffic_class{};    // no higher than the class of any reading
  bool is_also_get = false;   // a HEAD whose GET has another route; not an ambiguity
  bool has_capitals = false;  // in lower case it has another route of that upstream; no ambiguity
  bool is_ambiguous = false;  // not to be cached: a backend may see another resource's path
  bool conflicts = false;     // its readings have different routes, or are too many to check
  bool may_pass_by = false;   // one reading may be in a waiting room, and another is not
};

struct Classification {
  RouteId route{};
  ClassId traffic_class{};
  UpstreamId upstream{};
  Tenant tenant;
  TimePoint deadline;               // the route's, otherwise the class's
  bool has_route_deadline = false;  // if so, it also limits the wait for the response
  ClientDeadline client;            // set by the caller; can only shorten `deadline`
  bool has_ambiguous_path = false;  // these five: see PathRoute
  bool has_conflicting_path = false;
  bool is_also_get = false;
  bool has_capitals = false;
  bool may_pass_by_waiting_room = false;
  bool has_unclear_sender = false;  // a field that identifies the client came twice (SoleFields)
  // The priority sent by a trusted peer; it determined the class.
  std::optional<std::uint32_t> trusted_priority;

  // The class is no higher than that of another route, whose request this may be, too. So nothing
  // that goes by the route alone may raise it.
  bool may_be_anothers() const { return has_conflicting_path || is_also_get || has_capitals; }

  // The deadlines of the wait for a slot and of the wait for the response (kNever: none).
  // `uncounted` is time since arrival that the route's and the class's deadlines exclude; the
  // client's own deadline includes it.
  DueTime wait_until(Duration uncounted) const { return {deadline + uncounted, client.at}; }
  DueTime response_deadline(Duration uncounted) const {
    return has_route_deadline ? wait_until(uncounted) : DueTime(kNever, client.at);
  }
};

// The class of a numeric priority: [0, highest] is divided, from the top, into one band per class
// with widths in proportion to the ingress weights (by default the weights), so equal weights of
// three classes give 67-100, 34-66, 0-33 of 0-100. `highest` is always in the first class and 0 in
// the last; a priority above `highest` counts as `highest`.
ClassId class_of_priority(std::uint32_t priority, const std::vector<config::TrafficClass>& classes,
                          std::uint32_t highest = 100);

// The identity of a waiting room's visitor. The same name from two sources is two users.
struct VerifiedUser {
  enum class Source : char { nobody = 0, field = 'f', jwt = 'j', cookie = 'c', api_key = 'k' };
  Source source = Source::nobody;
  std::string_view name{};  // a view of the head, of the classifier or of the TokenWord
};

class Classifier {
 public:
  // Throws std::invalid_argument as RouteTable and TrustedPeers do. The seed keeps clients from
  // finding tenants whose ids collide; it must be the same for all classifiers of a process.
  explicit Classifier(const config::Config& config, std::uint64_t seed = 0);
  Classifier(const Classifier&) = delete;
  Classifier& operator=(const Classifier&) = delete;

  // The client's address: the peer's, or that of the client behind a trusted peer.
  IpAddress client_of(const http::RequestHead& head, const Peer& peer) const;

  // The facts about a connection's peer, computed once for all its requests.
  Peer peer(const IpAddress& address) const { return tenants_.peer(address); }

  // The head has passed request_framing(). The class is the first of: the priority sent by a
  // trusted peer (0 to priority_max, in the configured field, once); the class of the API key's
  // tenant; the lowest class that any reading of the path has by its route. A route without a
  // deadline of its own uses the deadline of the class.
  Classification classify(const http::RequestHead& head, const Peer& peer, TimePoint now) const;

  // The tier of a waiting room's visitor, by name: the value sent by a trusted peer, once, in the
  // configured field; otherwise the token's (TrustedTokens); otherwise that of the API key's
  // tenant. Empty: none. A view of the head, of `word` or of this object.
  std::string_view waiting_tier(const http::RequestHead& head, const Peer& peer,
                                const Tenant& tenant, const TokenWord& word) const;
  // Likewise the visitor's user: the value sent by a trusted peer, once, in the configured field;
  // otherwise the user named in the token; otherwise the API key's tenant.
  VerifiedUser waiting_user(const http::RequestHead& head, const Peer& peer, const Tenant& tenant,
                            const TokenWord& word) const;

  // Whether the request bypasses the waiting room of its route (config::WaitingBypass): by its
  // client's address, as client_of() returns it, by its path, or by waiting_tier().
  bool bypasses_waiting_room(const http::RequestHead& head, const Peer& peer,
                             const Classification& classification, const TokenWord& word) const;
  // Whether the result may depend on the tier.
  bool tiers_bypass(RouteId route) const {
    const WaitingBypass* const bypass = facts_[index(route)].bypass.get();
    return bypass != nullptr && bypass->has_tiers();
  }

  // Whether the class follows the learned cost of the route (priority_by_cost). A priority sent by
  // a trusted peer and the class of the API key's tenant take precedence; a request that may belong
  // to another route says nothing about this route's cost.
  bool goes_by_cost(const Classification& classification) const {
    return facts_[index(classification.route)].by_cost && !classification.trusted_priority &&
           !classification.tenant.tier->traffic_class && !classification.may_be_anothers();
  }
  // Sets the class, and the deadline with it unless the request's route has its own.
  void set_class(Classification& classification, ClassId traffic_class, TimePoint arrived) const {
    classification.traffic_class = traffic_class;
    if (!classification.has_route_deadline)
      classification.deadline = arrived + deadlines_[index(traffic_class)];
  }
  // The same for a request that costs this many milliseconds and arrived at `arrived`: its class is
  // the one of priority_max minus the milliseconds.
  void classify_by_cost(Classification& classification, double milliseconds,
                        TimePoint arrived) const;

  // Only the route, for a request target in origin-form.
  PathRoute route_of(http::Verb method, std::string_view method_name, std::string_view host,
                     std::string_view path_and_query) const;

 private:
  struct RouteFacts {
    ClassId traffic_class{};
    UpstreamId upstream{};
    std::optional<Duration> deadline;  // none: that of the class
    bool by_cost = false;
    bool has_waiting_room = false;
    bool names_head = false;
    bool names_capitals = false;                  // in its path: the backend is case-sensitive
    std::unique_ptr<const WaitingBypass> bypass;  // null: no bypass
  };

  struct Match {  // the route of one reading
    RouteId route{};
    ClassId lowest{};
    bool is_also_get = false;
    bool operator==(const Match&) const = default;
  };

  Match match(const RouteTable& routes, http::Verb method, std::string_view method_name,
              std::string_view host, std::string_view reading) const;
  std::optional<std::uint32_t> priority_of(const http::RequestHead& head, const Peer& peer) const;
  // The lowest class that the route may give: a request's cost is not known beforehand.
  ClassId lowest_class_of(RouteId route) const;

  RouteTable routes_;
  std::optional<RouteTable> folded_;        // as a backend that ignores case sees them; never empty
  std::vector<RouteFacts> facts_;           // by RouteId
  bool has_waiting_room_ = false;           // at least one route has one
  ClassId lowest_class_{};                  // of the whole configuration
  std::vector<Duration> deadlines_;         // by ClassId, for routes without one
  std::vector<ClassId> class_of_priority_;  // by priority, from 0 to priority_max
  std::string priority_header_;             // empty: none
  std::string tier_header_;                 // likewise
  std::string user_header_;                 // likewise
  TrustedPeers trusted_peers_;
  TenantResolver tenants_;
  SoleFields sole_fields_;
};

}  // namespace spillway::traffic
