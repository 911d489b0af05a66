#include "traffic/classify/classify.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "http/field/ascii.hpp"
#include "traffic/route/path.hpp"

namespace spillway::traffic {
namespace {

// The upper-case form of a lower-case method, which some backends accept as that method.
class Capitals {
 public:
  Capitals(http::Verb method, std::string_view name) {
    if (method != http::Verb::unknown || name.size() > block_.size()) return;
    if (std::none_of(name.begin(), name.end(), [](char c) { return c != http::to_upper(c); }))
      return;
    std::transform(name.begin(), name.end(), block_.begin(), http::to_upper);
    size_ = name.size();
  }

  std::string_view name() const { return {block_.data(), size_}; }  // empty: not lower case
  http::Verb method() const { return boost::beast::http::string_to_verb(name()); }

 private:
  std::array<char, 32> block_;  // no route names a longer method
  std::size_t size_ = 0;
};

bool has_capital(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

class SmallLetters {
 public:
  // Whether `text`, a reading of a path, has upper-case letters; if so, keeps its lower-case form.
  bool take(std::string_view text) {
    if (!has_capital(text)) return false;
    std::transform(text.begin(), text.end(), block_.begin(), http::to_lower);
    size_ = text.size();
    return true;
  }
  std::string_view text() const { return {block_.data(), size_}; }

 private:
  std::array<char, http::kMaxRequestLine + 1> block_;  // uninitialised
  std::size_t size_ = 0;
};

}  // namespace

ClassId class_of_priority(std::uint32_t priority, const std::vector<config::TrafficClass>& classes,
                          std::uint32_t highest) {
  const auto weight = [](const config::TrafficClass& one) {
    return one.ingress_weight.value_or(one.weight);
  };
  double total = 0;
  for (const config::TrafficClass& one : classes) total += weight(one);
  const double from_top = double(highest - std::min(priority, highest)) / highest;
  double band_end = 0;
  for (std::size_t i = 0; i + 1 < classes.size(); ++i) {
    band_end += weight(classes[i]) / total;
    if (from_top < band_end || priority >= highest) return static_cast<ClassId>(i);
  }
  return static_cast<ClassId>(classes.size() - 1);
}

Classifier::Classifier(const config::Config& config, std::uint64_t seed)
    : routes_(config.routes),
      priority_header_(config.trusted_headers.priority),
      tier_header_(config.trusted_headers.tier),
      user_header_(config.trusted_headers.user),
      trusted_peers_(config.trusted_peers),
      tenants_(config, trusted_peers_, seed),
      sole_fields_(config) {
  lowest_class_ = config.lowest_class();
  for (std::uint32_t priority = 0; priority <= config.priority_max; ++priority) {
    class_of_priority_.push_back(
        traffic::class_of_priority(priority, config.classes, config.priority_max));
  }
  for (const config::Route& route : config.routes) {
    const ClassId traffic_class =
        route.priority ? class_of_priority_.at(*route.priority) : route.traffic_class;
    const std::vector<std::string>& methods = route.match.methods;
    const bool names_head = std::find(methods.begin(), methods.end(), "HEAD") != methods.end();
    facts_.push_back({traffic_class, route.upstream, route.deadline, route.priority_by_cost,
                      route.waiting_room.has_value(), names_head, has_capital(route.match.path),
                      nullptr});
    if (!route.waiting_room) continue;
    has_waiting_room_ = true;
    auto bypass = std::make_unique<const WaitingBypass>(route.waiting_room->bypass);
    if (!bypass->is_empty()) facts_.back().bypass = std::move(bypass);
  }
  std::vector<ClassId> lowest;
  for (std::size_t i = 0; i < facts_.size(); ++i)
    lowest.push_back(lowest_class_of(static_cast<RouteId>(i)));
  folded_ = RouteTable::without_capitals(config.routes, lowest);
  for (const config::TrafficClass& one : config.classes) deadlines_.push_back(one.sla);
}

IpAddress Classifier::client_of(const http::RequestHead& head, const Peer& peer) const {
  return peer.trusted ? client_behind(peer.address, head.fields, trusted_peers_) : peer.address;
}

ClassId Classifier::lowest_class_of(RouteId route) const {
  return facts_[index(route)].by_cost ? lowest_class_ : facts_[index(route)].traffic_class;
}

// A greater ClassId is a lower class. If a HEAD and the GET for its path have two routes, one with
// a waiting room wins, the GET's first, since that is what runs; otherwise the lower class.
Classifier::Match Classifier::match(const RouteTable& routes, http::Verb method,
                                    std::string_view method_name, std::string_view host,
                                    std::string_view reading) const {
  const RouteId route = routes.match(method, method_name, host, reading);
  const Match found{route, lowest_class_of(route)};
  if (method != http::Verb::head || facts_[index(route)].names_head) return found;
  const RouteId of_get = routes.match(http::Verb::get, "GET", host, reading);
  if (of_get == route) return found;
  const ClassId lowest = std::max(found.lowest, lowest_class_of(of_get));
  const bool is_lower = lowest > found.lowest && !facts_[index(route)].has_waiting_room;
  const bool goes_as_get = facts_[index(of_get)].has_waiting_room || is_lower;
  return {goes_as_get ? of_get : route, lowest, true};
}

PathRoute Classifier::route_of(http::Verb method, std::string_view method_name,
                               std::string_view host, std::string_view path_and_query) const {
  PathReadings path(path_and_query);
  path.next();
  const Match first = match(routes_, method, method_name, host, path.reading());
  PathRoute found{.route = first.route, .is_also_get = first.is_also_get};
  ClassId lowest = first.lowest;
  const auto may_be = [&](const Match& other) {
    if (other == first) return;
    found.conflicts = true;
    found.may_pass_by = found.may_pass_by || facts_[index(first.route)].has_waiting_room ||
                        facts_[index(other.route)].has_waiting_room;
    if (other.lowest > lowest) {
      found.route = other.route;
      lowest = other.lowest;
    }
  };
  // The path as seen by a backend of the same upstream that ignores case. For other backends it is
  // a different path, so this is not a conflict.
  SmallLetters small;
  bool has_room = false;
  const auto may_ignore_capitals = [&] {
    if (facts_[index(first.route)].names_capitals || !small.take(path.reading())) return;
    const Match other = match(*folded_, method, method_name, host, small.text());
    const RouteFacts& its = facts_[index(other.route)];
    if (other.route == found.route || its.upstream != facts_[index(found.route)].upstream) return;
    found.has_capitals = true;
    has_room = has_room || its.has_waiting_room;
    if (its.has_waiting_room && !facts_[index(found.route)].has_waiting_room)
      found.route = other.route;
    lowest = std::max(lowest, other.lowest);
  };
  const Capitals capitals(method, method_name);
  for (;;) {
    if (!capitals.name().empty())
      may_be(match(routes_, capitals.method(), capitals.name(), host, path.reading()));
    may_ignore_capitals();
    const bool is_decided =
        found.conflicts && lowest == lowest_class_ && (found.may_pass_by || !has_waiting_room_);
    if (is_decided || !path.next()) break;
    may_be(match(routes_, method, method_name, host, path.reading()));
  }
  if (path.too_many()) {
    lowest = lowest_class_;
    found.may_pass_by = has_waiting_room_;
  }
  found.conflicts = found.conflicts || path.too_many();
  found.may_pass_by = found.may_pass_by || (found.conflicts && has_room);
  found.is_ambiguous = found.conflicts || path.is_ambiguous();
  const bool is_one_routes = !found.conflicts && !found.is_also_get && !found.has_capitals;
  found.traffic_class = is_one_routes ? facts_[index(first.route)].traffic_class : lowest;
  return found;
}

std::optional<std::uint32_t> Classifier::priority_of(const http::RequestHead& head,
                                                     const Peer& peer) const {
  if (!peer.trusted || priority_header_.empty()) return std::nullopt;
  const std::string_view text = only_value(head.fields, priority_header_);
  std::uint32_t priority = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), priority);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (priority >= class_of_priority_.size()) return std::nullopt;
  return priority;
}

std::string_view Classifier::waiting_tier(const http::RequestHead& head, const Peer& peer,
                                          const Tenant& tenant, const TokenWord& word) const {
  if (peer.trusted && !tier_header_.empty()) {
    const std::string_view sent = only_value(head.fields, tier_header_);
    if (!sent.empty()) return sent;
  }
  return word.tier.empty() ? tenant.tier->waiting_tier : word.tier;
}

VerifiedUser Classifier::waiting_user(const http::RequestHead& head, const Peer& peer,
                                      const Tenant& tenant, const TokenWord& word) const {
  using Source = VerifiedUser::Source;
  if (peer.trusted && !user_header_.empty()) {
    const std::string_view sent = only_value(head.fields, user_header_);
    if (!sent.empty()) return {Source::field, sent};
  }
  if (!word.user.empty())
    return {word.source == TokenSource::jwt ? Source::jwt : Source::cookie, word.user};
  if (tenant.source != config::TenantKey::api_key) return {};
  return {Source::api_key, tenant.value()};
}

bool Classifier::bypasses_waiting_room(const http::RequestHead& head, const Peer& peer,
                                       const Classification& classification,
                                       const TokenWord& word) const {
  const WaitingBypass* const bypass = facts_[index(classification.route)].bypass.get();
  if (bypass == nullptr) return false;
  return bypass->has_client(client_of(head, peer)) || bypass->has_path(head.path_and_query) ||
         bypass->has_tier(waiting_tier(head, peer, classification.tenant, word));
}

void Classifier::classify_by_cost(Classification& classification, double milliseconds,
                                  TimePoint arrived) const {
  const auto highest = static_cast<double>(class_of_priority_.size() - 1);
  const double priority = highest - std::clamp(milliseconds, 0.0, highest);
  set_class(classification, class_of_priority_[static_cast<std::size_t>(priority)], arrived);
}

Classification Classifier::classify(const http::RequestHead& head, const Peer& peer,
                                    TimePoint now) const {
  const PathRoute path = route_of(head.method, head.method_name, head.host, head.path_and_query);
  const RouteFacts& facts = facts_[index(path.route)];
  const std::optional<std::uint32_t> priority = priority_of(head, peer);
  const Tenant tenant = tenants_.resolve(head, peer);
  const ClassId of_tier = tenant.tier->traffic_class.value_or(path.traffic_class);
  const ClassId traffic_class = priority ? class_of_priority_[*priority] : of_tier;
  return {.route = path.route,
          .traffic_class = traffic_class,
          .upstream = facts.upstream,
          .tenant = tenant,
          .deadline = now + facts.deadline.value_or(deadlines_[index(traffic_class)]),
          .has_route_deadline = facts.deadline.has_value(),
          .client = {},
          .has_ambiguous_path = path.is_ambiguous,
          .has_conflicting_path = path.conflicts,
          .is_also_get = path.is_also_get,
          .has_capitals = path.has_capitals,
          .may_pass_by_waiting_room = path.may_pass_by,
          .has_unclear_sender = sole_fields_.is_any_repeated(head.fields, peer.trusted) ||
                                tenants_.has_joined_keys(head),
          .trusted_priority = priority};
}

}  // namespace spillway::traffic
