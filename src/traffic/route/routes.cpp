#include "traffic/route/routes.hpp"

#include <algorithm>
#include <array>
#include <boost/beast/http/verb.hpp>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "http/field/ascii.hpp"
#include "http/message/target.hpp"

namespace spillway::traffic {
namespace {

constexpr std::uint16_t kFirstCustomMethod = 256;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = http::to_lower(c);
  return out;
}

// The canonical text of a match: equal for all ways of writing the same match.
std::string canonical(const config::Match& match, const Pattern& pattern) {
  std::set<std::string> methods(match.methods.begin(), match.methods.end());
  std::string text = lower(match.host);
  for (const std::string& method : methods) text += ' ' + method;
  for (const Pattern::Segment& segment : pattern.segments) {
    text += segment.star ? "/*" : "/=" + segment.literal;
  }
  return text + (pattern.below ? "/**" : "");
}

struct Entry {
  const config::Route* route;
  Pattern pattern;
  RouteId id;
};

bool wins_over(const Entry& a, const Entry& b) {
  if (more_specific(a.pattern, b.pattern)) return true;
  if (more_specific(b.pattern, a.pattern)) return false;
  const auto key = [](const Entry& entry) {
    const config::Match& match = entry.route->match;
    return std::tuple(match.host.empty(), match.methods.empty(), entry.id);
  };
  return key(a) < key(b);
}

std::vector<Entry> read_entries(const std::vector<config::Route>& routes) {
  std::vector<Entry> entries;
  std::map<std::string, std::string_view> seen;
  for (std::size_t i = 0; i + 1 < routes.size(); ++i) {
    if (routes[i].internal) continue;
    entries.push_back({&routes[i], parse_pattern(routes[i].match.path), static_cast<RouteId>(i)});
    const auto [other, fresh] =
        seen.emplace(canonical(routes[i].match, entries.back().pattern), routes[i].name);
    if (!fresh) {
      throw std::invalid_argument("routes \"" + std::string(other->second) + "\" and \"" +
                                  routes[i].name + "\" have the same match");
    }
  }
  return entries;
}

// An upper bound of the positions that one walk can have at the same depth: two positions with the
// same root and the same wildcards so far would have the same literals, and so be the same.
std::size_t count_positions(const std::vector<Entry>& entries) {
  std::map<std::size_t, std::set<std::pair<bool, std::uint64_t>>> shapes;
  std::size_t most = 1;
  for (const Entry& entry : entries) {
    const bool any_host = entry.route->match.host.empty();
    for (std::size_t depth = 0; depth <= entry.pattern.segments.size(); ++depth) {
      auto& here = shapes[depth];
      here.emplace(any_host, entry.pattern.shape(depth));
      most = std::max(most, here.size());
    }
  }
  return most;
}

}  // namespace

RouteTable::RouteTable(const std::vector<config::Route>& routes) {
  if (routes.empty()) throw std::invalid_argument("there is no default route");
  default_ = static_cast<RouteId>(routes.size() - 1);
  std::vector<Entry> entries = read_entries(routes);
  if (const std::size_t positions = count_positions(entries); positions > kMaxShapes) {
    throw std::invalid_argument("the routes place * in " + std::to_string(positions) +
                                " different arrangements at one depth; at most " +
                                std::to_string(kMaxShapes) + " are possible");
  }
  std::stable_sort(entries.begin(), entries.end(), wins_over);
  for (const Entry& entry : entries) {
    add(*entry.route, entry.pattern, static_cast<Rank>(route_of_rank_.size()));
    route_of_rank_.push_back(entry.id);
  }
}

RouteTable RouteTable::without_capitals(std::vector<config::Route> routes,
                                        const std::vector<ClassId>& classes) {
  std::map<std::string, std::size_t> kept;
  for (std::size_t i = 0; i + 1 < routes.size(); ++i) {
    if (routes[i].internal) continue;
    routes[i].match.path = lower(routes[i].match.path);
    const std::string text = canonical(routes[i].match, parse_pattern(routes[i].match.path));
    std::size_t& one = kept.emplace(text, i).first->second;
    if (one == i) continue;
    const std::size_t lowest = classes[i] > classes[one] ? i : one;
    routes[one + i - lowest].internal = true;  // the other one
    one = lowest;
  }
  return RouteTable(routes);
}

RouteTable::Node RouteTable::root_of(const std::string& host) {
  if (host.empty()) {
    if (any_host_ == kNoNode) {
      any_host_ = static_cast<Node>(nodes_.size());
      nodes_.emplace_back();
    }
    return any_host_;
  }
  const std::string key = lower(host);
  if (const Node root = hosts_.find(0, key); root != SegmentTable::kAbsent) return root;
  const auto root = static_cast<Node>(nodes_.size());
  nodes_.emplace_back();
  hosts_.insert(0, key, root);
  return root;
}

RouteTable::Node RouteTable::child_of(Node parent, const Pattern::Segment& segment) {
  const auto fresh = static_cast<Node>(nodes_.size());
  if (segment.star) {
    if (nodes_[parent].star != kNoNode) return nodes_[parent].star;
    nodes_[parent].star = fresh;
  } else {
    const Node known = literals_.find(parent, segment.literal);
    if (known != SegmentTable::kAbsent) return known;
    literals_.insert(parent, segment.literal, fresh);
  }
  nodes_.emplace_back();
  return fresh;
}

// Ranks are added in ascending order, so each list is sorted; a route shadowed by an earlier entry
// is left out, so that a list is never longer than the number of methods.
void RouteTable::add(const config::Route& route, const Pattern& pattern, Rank rank) {
  Node node = root_of(route.match.host);
  for (const Pattern::Segment& segment : pattern.segments) node = child_of(node, segment);
  std::vector<Candidate>& candidates = pattern.below ? nodes_[node].below : nodes_[node].exact;
  const auto take = [&](MethodId method) {
    const bool taken =
        std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
          return candidate.method == method || candidate.method == kAnyMethod;
        });
    if (!taken) candidates.push_back({method, rank});
  };
  if (route.match.methods.empty()) take(kAnyMethod);
  for (const std::string& method : route.match.methods) take(intern_method(method));
}

RouteTable::MethodId RouteTable::intern_method(const std::string& name) {
  const http::Verb verb = boost::beast::http::string_to_verb(name);
  const MethodId known = method_id(verb, name);
  if (known != kAnyMethod) return known;
  custom_methods_.push_back(name);
  return static_cast<MethodId>(kFirstCustomMethod + custom_methods_.size() - 1);
}

// kAnyMethod for a method that no route names: it matches only routes for any method.
RouteTable::MethodId RouteTable::method_id(http::Verb method, std::string_view name) const {
  if (method != http::Verb::unknown) return static_cast<MethodId>(method);
  const auto found = std::find(custom_methods_.begin(), custom_methods_.end(), name);
  if (found == custom_methods_.end()) return kAnyMethod;
  return static_cast<MethodId>(kFirstCustomMethod + (found - custom_methods_.begin()));
}

RouteTable::Rank RouteTable::best_of(const std::vector<Candidate>& candidates, MethodId method,
                                     Rank best) const {
  for (const Candidate& candidate : candidates) {
    if (candidate.rank >= best) break;
    if (candidate.method == method || candidate.method == kAnyMethod) return candidate.rank;
  }
  return best;
}

// The start of a walk: the trie of this host and the trie for any host.
std::size_t RouteTable::start(std::string_view host, Node* positions) const {
  std::size_t count = 0;
  if (any_host_ != kNoNode) positions[count++] = any_host_;
  if (hosts_.size() == 0) return count;
  host = http::without_port(host);
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.size() > http::kMaxHost) return count;
  std::array<char, http::kMaxHost> lowered;
  std::transform(host.begin(), host.end(), lowered.begin(), http::to_lower);
  const Node root = hosts_.find(0, {lowered.data(), host.size()});
  if (root != SegmentTable::kAbsent) positions[count++] = root;
  return count;
}

RouteId RouteTable::match(http::Verb method, std::string_view method_name, std::string_view host,
                          std::string_view normalised_path) const {
  const MethodId wanted = method_id(method, method_name);
  std::array<Node, 2 * (kMaxShapes + 1)> room;
  Node* positions = room.data();
  Node* next = positions + kMaxShapes + 1;
  std::size_t count = start(host, positions);
  std::string_view rest = normalised_path;
  Rank best = kNoRank;
  for (;;) {
    for (std::size_t i = 0; i < count; ++i) {
      best = best_of(nodes_[positions[i]].below, wanted, best);
    }
    if (!rest.empty()) rest.remove_prefix(1);
    if (rest.empty() || count == 0) break;
    const std::string_view segment = rest.substr(0, rest.find('/'));
    rest.remove_prefix(segment.size());
    const std::uint64_t hash = SegmentTable::hash(segment);
    std::size_t reached = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Node literal = literals_.find(positions[i], segment, hash);
      if (literal != SegmentTable::kAbsent) next[reached++] = literal;
      const Node star = nodes_[positions[i]].star;
      if (star != kNoNode) next[reached++] = star;
    }
    count = reached;
    std::swap(positions, next);
  }
  for (std::size_t i = 0; i < count; ++i) {
    best = best_of(nodes_[positions[i]].exact, wanted, best);
  }
  return best == kNoRank ? default_ : route_of_rank_[best];
}

}  // namespace spillway::traffic
