// Finds the most specific route for a method, host and path.
//
// Patterns: literal segments, `*` = one segment, a final `/**` = the path itself and everything
// below. Segment by segment a literal beats `*` beats `**`; then a route with a host beats one
// without, then one with methods beats one without, then the earlier in the file wins.
//
// All patterns share one trie, walked once from left to right with a set of positions and without
// backtracking. Two positions at one depth always differ in where their pattern has wildcards, so
// the size of the set is bounded by the number of such shapes (kMaxShapes, checked at start) and
// the cost by the number of segments, whatever the number of routes or the text of the path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "config/config.hpp"
#include "http/message/head.hpp"
#include "traffic/route/pattern.hpp"
#include "traffic/route/segment_table.hpp"

namespace spillway::traffic {

class RouteTable {
 public:
  static constexpr std::size_t kMaxShapes = 64;

  // Throws std::invalid_argument, naming both, for two routes with the same match; also for a
  // malformed pattern and for more than kMaxShapes arrangements of wildcards. The last route is the
  // default route: its match is ignored, and it gets the requests that match no other.
  explicit RouteTable(const std::vector<config::Route>& routes);
  // The routes as a backend that ignores case sees them, for lower-case paths. Of two routes that
  // differ only in case, the one with the lower class counts; `classes` is by RouteId.
  static RouteTable without_capitals(std::vector<config::Route> routes,
                                     const std::vector<ClassId>& classes);

  // `host` may have a port and upper-case letters. `normalised_path` is a reading of the path
  // (path.hpp). `method_name` is only used if `method` is unknown.
  RouteId match(http::Verb method, std::string_view method_name, std::string_view host,
                std::string_view normalised_path) const;

 private:
  using Node = std::uint32_t;
  using MethodId = std::uint16_t;
  using Rank = std::uint32_t;  // 0 wins over all other ranks
  static constexpr Rank kNoRank = UINT32_MAX;
  static constexpr Node kNoNode = UINT32_MAX;
  static constexpr MethodId kAnyMethod = UINT16_MAX;

  struct Candidate {  // a route whose pattern ends at this node
    MethodId method;
    Rank rank;
  };
  struct NodeData {
    Node star = kNoNode;
    std::vector<Candidate> exact;  // best rank first
    std::vector<Candidate> below;  // patterns that end in /** at this node
  };

  void add(const config::Route& route, const Pattern& pattern, Rank rank);
  Node root_of(const std::string& host);
  Node child_of(Node parent, const Pattern::Segment& segment);
  Rank best_of(const std::vector<Candidate>& candidates, MethodId method, Rank best) const;
  MethodId intern_method(const std::string& name);
  MethodId method_id(http::Verb method, std::string_view name) const;
  std::size_t start(std::string_view host, Node* positions) const;

  std::vector<NodeData> nodes_;
  SegmentTable literals_;  // (node, segment) -> node
  SegmentTable hosts_;     // (0, host) -> root
  Node any_host_ = kNoNode;
  std::vector<std::string> custom_methods_;
  std::vector<RouteId> route_of_rank_;
  RouteId default_{};
};

}  // namespace spillway::traffic
