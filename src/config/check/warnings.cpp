#include "config/check/warnings.hpp"

#include <unistd.h>

#include <algorithm>
#include <boost/beast/zlib/deflate_stream.hpp>
#include <cerrno>
#include <string>
#include <system_error>

#include "config/check/findings.hpp"
#include "config/layers.hpp"
#include "config/tunnels.hpp"

namespace spillway::config {
namespace {

// How much a new connection can send in its first round trip (RFC 6928), and the most of it that
// the waiting page's own part needs.
constexpr std::size_t kFirstFlight = 14 * 1024;
constexpr std::size_t kOfOwnPage = 8 * 1024;

// The time a visitor needs to notice a call, find the page and come in; the default.
constexpr Milliseconds kTimeToCome{120'000};

// The size when compressed by a server in front of Spillway, which does not compress itself.
std::size_t deflated_size(const std::string& text) {
  namespace zlib = boost::beast::zlib;
  zlib::deflate_stream stream;
  std::string room(stream.upper_bound(text.size()), '\0');
  zlib::z_params work;
  work.next_in = text.data();
  work.avail_in = text.size();
  work.next_out = room.data();
  work.avail_out = room.size();
  boost::beast::error_code ended;
  stream.write(work, zlib::Flush::finish, ended);
  return work.total_out;
}

std::string markup_of(const PageTemplate& page) {
  std::string markup;
  for (const PagePiece& piece : page.pieces) markup += piece.text;
  return markup;
}

void warn_of_long_pages(const Config& config, Problems& found) {
  for (std::size_t n = 0; n < config.routes.size(); ++n) {
    const auto& room = config.routes[n].waiting_room;
    if (!room || !room->page.own) continue;
    const std::size_t size = deflated_size(markup_of(*room->page.own));
    if (size <= kFirstFlight - kOfOwnPage) continue;
    found.push_back({route_path(n, config.routes.size()) + ".waiting_room.page",
                     "this template takes " + std::to_string(size) +
                         " bytes even if it is compressed: with up to " +
                         std::to_string(kOfOwnPage) + " of the page's own part it exceeds the " +
                         std::to_string(kFirstFlight) +
                         " that arrive in the first round trip of a connection"});
  }
}

void warn_of_hasty_calls(const Config& config, Problems& found) {
  for (std::size_t n = 0; n < config.routes.size(); ++n) {
    const auto& room = config.routes[n].waiting_room;
    if (!room || room->tickets.claim >= kTimeToCome) continue;
    found.push_back({route_path(n, config.routes.size()) + ".waiting_room.claim_ms",
                     "a called visitor has " + std::to_string(room->tickets.claim.count()) +
                         " ms to come in: with less than " + std::to_string(kTimeToCome.count()) +
                         " many who need an assistive technology, or look at another tab, will "
                         "miss their calls (WCAG 2.2.1)"});
  }
}

// No warning for the default value: the operator did not ask for so many tunnels.
void warn_of_many_tunnels(const Config& config, Problems& found) {
  const Limits& limits = config.limits;
  const std::uint32_t most = tunnels_among(limits.connections, limits);
  if (limits.tunnels == most || limits.tunnels == Limits{}.tunnels) return;
  found.push_back({"$.limits.tunnels", "no more than half of limits.connections are ever open: " +
                                           std::to_string(most) + " of these " +
                                           std::to_string(limits.tunnels)});
}

// Otherwise the first slow client would reveal it, by holding its slot.
void warn_of_no_temp_directory(const Config& config, Problems& found) {
  const Limits& limits = config.limits;
  if (limits.temp_file_bytes == 0) return;
  if (::access(limits.temp_file_directory.c_str(), W_OK | X_OK) == 0) return;
  found.push_back({"$.limits.temp_file_directory",
                   "cannot write to " + limits.temp_file_directory + ": " +
                       std::system_category().message(errno) +
                       ": bodies of slow clients that do not fit limits.buffer_bytes hold slots"});
}

// It would be treated as if it were not given.
void warn_of_no_principal(const Config& config, Problems& found) {
  const auto has = [&](TenantKey key) {
    return std::ranges::find(config.tenants.key, key) != config.tenants.key.end();
  };
  const bool is_any_verified =
      (has(TenantKey::api_key) && !config.tenants.api_keys.empty()) ||
      (has(TenantKey::trusted_header) && !config.trusted_headers.tenant.empty());
  for (std::size_t n = 0; n < config.routes.size(); ++n) {
    const auto& defer = config.routes[n].defer;
    if (!defer || !defer->idempotency_principal || is_any_verified) continue;
    const IdempotencyPrincipal& by = *defer->idempotency_principal;
    if (!by.fields.empty() || !by.cookies.empty()) continue;
    found.push_back({route_path(n, config.routes.size()) + ".defer.idempotency_principal",
                     "names nothing, and no tenant is verified, by $.tenants.api_keys or "
                     "$.trusted_headers.tenant: all credentials count, as without it"});
  }
}

// Browsers drop such a cookie over plain HTTP, so each visitor would wait for ever.
void warn_of_plain_visitors(const Config& config, Problems& found) {
  if (!config.trusted_peers.empty()) return;
  for (std::size_t n = 0; n < config.routes.size(); ++n) {
    const auto& room = config.routes[n].waiting_room;
    if (!room || !room->secure_cookie) continue;
    found.push_back({route_path(n, config.routes.size()) + ".waiting_room.secure_cookie",
                     "is true, and no $.trusted_peers are in front that could speak HTTPS: over "
                     "plain HTTP browsers drop the cookie, and no visitor ever comes in; false is "
                     "for a site without HTTPS"});
  }
}

// Whether requests of this route may be of this class: a priority, a learned cost or an API key may
// give a request any class.
bool may_be_of(const Config& config, const Route& route, ClassId traffic_class) {
  const bool may_be_any =
      route.priority || route.priority_by_cost || !config.trusted_headers.priority.empty() ||
      std::ranges::any_of(config.tenants.api_keys,
                          [](const ApiKey& key) { return key.traffic_class.has_value(); });
  return may_be_any || route.traffic_class == traffic_class;
}

bool drops_late(const Config& config, const Route& route) {
  return config.upstreams[index(route.upstream)].dispatch.late == Late::drop;
}

// The deadline ends the wait first, with a different answer: DEADLINE_EXPIRED.
void warn_of_vain_waits(const Config& config, Problems& found) {
  for (std::size_t n = 0; n < config.classes.size(); ++n) {
    const TrafficClass& one = config.classes[n];
    const auto ends_with_sla = [&](const Route& route) {
      return !route.deadline && may_be_of(config, route, ClassId(n)) && drops_late(config, route);
    };
    if (one.max_wait <= one.sla || std::ranges::none_of(config.routes, ends_with_sla)) continue;
    const std::string sla = std::to_string(one.sla.count());
    found.push_back(
        {element("$.classes", n) + ".max_wait_ms",
         std::to_string(one.max_wait.count()) + " is more than sla_ms (" + sla +
             "): on a route without deadline_ms no request waits for longer than these " + sla +
             " ms; raise sla_ms, too"});
  }
}

// The rule degrades by serving stored responses or the fallback, and forwards requests that have
// neither. Not with skip_downstream, where the backend is notified.
bool forwards_misses(const Rule& rule) {
  return rule.strategy == Strategy::degrade && rule.mode != DegradeMode::skip_downstream &&
         miss_of(rule) == Miss::forward;
}

// In any state of the upstream, ignoring what routes override.
bool forwards_misses(const Overload& overload, ClassId traffic_class) {
  const std::vector<Rule> rules = overloaded_rules(overload, traffic_class);
  return std::ranges::any_of(rules, [](const Rule& rule) { return forwards_misses(rule); });
}

// No route can serve anything instead, so the rule refuses nothing.
void warn_of_rules_without_effect(const Config& config, Problems& found) {
  for (std::size_t n = 0; n < config.classes.size(); ++n) {
    const auto id = ClassId(n);
    const auto has_something = [&](const Route& route) {
      return may_be_of(config, route, id) && (route.cache || route.fallback);
    };
    if (std::ranges::any_of(config.routes, has_something)) continue;
    for (std::size_t u = 0; u < config.upstreams.size(); ++u) {
      const bool is_common = forwards_misses(config.overload, id);
      if (!is_common && !forwards_misses(config.upstreams[u].overload, id)) continue;
      found.push_back(
          {(is_common ? "$" : element("$.upstreams", u)) + ".overload.rules." +
               config.classes[n].name,
           "degrade sheds nothing: no route of this class has a cache or a fallback, so every "
           "request is forwarded as a miss; \"miss\": \"deny\" or \"strategy\": \"deny\" refuses"});
      if (is_common) break;
    }
  }
}

}  // namespace

Problems warnings(const Config& config) {
  Problems found;
  warn_of_long_pages(config, found);
  warn_of_hasty_calls(config, found);
  warn_of_many_tunnels(config, found);
  warn_of_no_temp_directory(config, found);
  warn_of_no_principal(config, found);
  warn_of_plain_visitors(config, found);
  warn_of_vain_waits(config, found);
  warn_of_rules_without_effect(config, found);
  return found;
}

}  // namespace spillway::config
