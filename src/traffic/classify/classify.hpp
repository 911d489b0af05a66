// Classifies a request: route, class, upstream, tenant and deadline, the input of admission and
// dispatch.
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

// The route of a path that may have several readings (path.hpp). A method in small letters may be
// the one in capitals, too. Most frameworks answer HEAD by what answers GET: unless the route of a
// HEAD names that method, the route of a GET counts as well. Some backends ignore capitals: the
// class is no higher than in small letters, and a waiting room counts; but a path with capitals is
// mostly one of its own, and goes to its own route.
struct PathRoute {
  RouteId route{};            // of the reading with the lowest class; else of the first
  ClassId traffic_class{};    // no higher than that of any reading
  bool is_also_get = false;   // a HEAD for which a GET has another route; no ambiguity
  bool has_capitals = false;  // in small letters it is another route's of the same upstream; none
  bool is_ambiguous = false;  // not to be stored: a backend may see the path of something else
  bool conflicts = false;     // its readings have different routes, or are too many to tell
  bool may_pass_by = false;   // a waiting room: one reading may be in it, and another is not
};

struct Classification {
  RouteId route{};
  ClassId traffic_class{};
  UpstreamId upstream{};
  Tenant tenant;
  TimePoint deadline;               // the route's or else the class's
  bool has_route_deadline = false;  // it then limits the wait for the response, too
  ClientDeadline client;            // set by the caller; can only shorten `deadline`
  bool has_ambiguous_path = false;  // PathRoute
  bool has_conflicting_path = false;
  bool is_also_get = false;
  bool has_capitals = false;
  bool may_pass_by_waiting_room = false;
  bool has_unclear_sender = false;  // a field that says whose it is came twice (SoleFields)
  // The priority that a trusted peer sent; it determined the class.
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

// The class of a numeric priority: [0, highest] is cut, from the top, into one band per class with
// widths in proportion to the ingress weights (by default the weights), so equal weights of three
// classes give 67-100, 34-66, 0-33 of 0-100. `highest` is always the first class and 0 the last;
// more than `highest` counts as that.
ClassId class_of_priority(std::uint32_t priority, const std::vector<config::TrafficClass>& classes,
                          std::uint32_t highest = 100);

// Who a visitor of a waiting room is. The same name in two sources is two users.
struct VerifiedUser {
  enum class Source : char { nobody = 0, field = 'f', jwt = 'j', cookie = 'c', api_key = 'k' };
  Source source = Source::nobody;
  std::string_view name{};  // a view of the head, of the classifier or of the token's word
};

class Classifier {
 public:
  // Throws std::invalid_argument as RouteTable and TrustedPeers do. The seed keeps clients from
  // finding tenants that share an id; it must be the same for all classifiers of a process.
  explicit Classifier(const config::Config& config, std::uint64_t seed = 0);
  Classifier(const Classifier&) = delete;
  Classifier& operator=(const Classifier&) = delete;

  // The client's address: its peer's, or the one behind the peer if that is trusted.
  IpAddress client_of(const http::RequestHead& head, const Peer& peer) const;

  // The facts about a connection's peer, computed once for all its requests.
  Peer peer(const IpAddress& address) const { return tenants_.peer(address); }

  // The head has passed request_framing(). The class is the first of: that of the priority which a
  // trusted peer sends (0 to priority_max, by the configured field, once); that of the API key's
  // tenant; the lowest that any reading of the path has by its route. A route without a deadline of
  // its own has that of the class.
  Classification classify(const http::RequestHead& head, const Peer& peer, TimePoint now) const;

  // The tier of a visitor of a waiting room, by name: what a trusted peer sends, once, by the
  // configured field; else what its token says (TrustedTokens); else that of the API key's tenant.
  // Empty: none. A view of the head, of `word` or of this.
  std::string_view waiting_tier(const http::RequestHead& head, const Peer& peer,
                                const Tenant& tenant, const TokenWord& word) const;
  // The user of a visitor of a waiting room likewise: what a trusted peer sends, once, by the
  // configured field; else whom its token names; else the API key's tenant.
  VerifiedUser waiting_user(const http::RequestHead& head, const Peer& peer, const Tenant& tenant,
                            const TokenWord& word) const;

  // Whether the request does not wait in the waiting room of its route (config::WaitingBypass): by
  // its client's address, as client_of(), by its path, or by waiting_tier().
  bool bypasses_waiting_room(const http::RequestHead& head, const Peer& peer,
                             const Classification& classification, const TokenWord& word) const;
  // Whether that may depend on the tier.
  bool tiers_bypass(RouteId route) const {
    const WaitingBypass* const bypass = facts_[index(route)].bypass.get();
    return bypass != nullptr && bypass->has_tiers();
  }

  // Whether the class goes by the learned cost of the route (priority_by_cost). A priority that a
  // trusted peer sent and the class of the API key's tenant go first; a request that may be another
  // route's does not say what it costs.
  bool goes_by_cost(const Classification& classification) const {
    return facts_[index(classification.route)].by_cost && !classification.trusted_priority &&
           !classification.tenant.tier->traffic_class && !classification.may_be_anothers();
  }
  // Sets the class, and with it the deadline of a request without one of its route.
  void set_class(Classification& classification, ClassId traffic_class, TimePoint arrived) const {
    classification.traffic_class = traffic_class;
    if (!classification.has_route_deadline)
      classification.deadline = arrived + deadlines_[index(traffic_class)];
  }
  // The same for a request of this many milliseconds, which arrived at `arrived`: the
  // class of priority_max less the milliseconds.
  void classify_by_cost(Classification& classification, double milliseconds,
                        TimePoint arrived) const;

  // The route alone, of a request-target in origin-form.
  PathRoute route_of(http::Verb method, std::string_view method_name, std::string_view host,
                     std::string_view path_and_query) const;

 private:
  struct RouteFacts {
    ClassId traffic_class{};
    UpstreamId upstream{};
    std::optional<Duration> deadline;  // none: the class's
    bool by_cost = false;
    bool has_waiting_room = false;
    bool names_head = false;
    bool names_capitals = false;                  // in its path: the backend tells them apart there
    std::unique_ptr<const WaitingBypass> bypass;  // null: none passes by
  };

  struct Match {  // of one reading
    RouteId route{};
    ClassId lowest{};
    bool is_also_get = false;
    bool operator==(const Match&) const = default;
  };

  Match match(const RouteTable& routes, http::Verb method, std::string_view method_name,
              std::string_view host, std::string_view reading) const;
  std::optional<std::uint32_t> priority_of(const http::RequestHead& head, const Peer& peer) const;
  // The lowest class that the route may give: what a request costs is not known beforehand.
  ClassId lowest_class_of(RouteId route) const;

  RouteTable routes_;
  std::optional<RouteTable> folded_;        // to a backend that ignores capitals; never empty
  std::vector<RouteFacts> facts_;           // by RouteId
  bool has_waiting_room_ = false;           // some route
  ClassId lowest_class_{};                  // of the configuration
  std::vector<Duration> deadlines_;         // by ClassId, where the route has none
  std::vector<ClassId> class_of_priority_;  // by priority, up to the highest
  std::string priority_header_;             // empty: none
  std::string tier_header_;                 // likewise
  std::string user_header_;                 // likewise
  TrustedPeers trusted_peers_;
  TenantResolver tenants_;
  SoleFields sole_fields_;
};

}  // namespace spillway::traffic
