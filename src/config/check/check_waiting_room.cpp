// Checks of the routes' `waiting_room`.
#include <algorithm>
#include <string>

#include "config/check/checks.hpp"
#include "config/choices.hpp"

namespace spillway::config {
namespace {

std::string count_of(Milliseconds time) { return std::to_string(time.count()); }

// Checks that the tiers differ, by name or by priority.
template <class Member>
void check_distinct(const std::vector<WaitingTier>& tiers, const std::string& path, const char* key,
                    Member WaitingTier::*member, Findings& findings) {
  for (std::size_t n = 1; n < tiers.size(); ++n) {
    for (std::size_t before = 0; before < n; ++before) {
      if (tiers[n].*member != tiers[before].*member) continue;
      findings.report(element(path, n) + "." + key, "the same as of " + element(path, before));
      break;
    }
  }
}

void check_tiers(const std::vector<WaitingTier>& tiers, const std::string& path,
                 Findings& findings) {
  check_distinct(tiers, path, "name", &WaitingTier::name, findings);
  check_distinct(tiers, path, "priority", &WaitingTier::priority, findings);
  double shares = 0;
  for (const WaitingTier& tier : tiers) shares += tier.share;
  if (shares >= 1)
    findings.report(path,
                    "the shares of all tiers together must be below 1: what they leave goes "
                    "by priority");
  const auto highest = std::ranges::max_element(tiers, {}, &WaitingTier::priority);
  if (tiers.size() > 1 && highest->share > 0) {
    const auto n = static_cast<std::size_t>(highest - tiers.begin());
    findings.report(element(path, n) + ".share",
                    "the highest tier goes first anyway: give shares to lower ones");
  }
}

// Without the webhook, its visitors would be called but not notified.
void check_reserve(const WaitingRoom& room, const std::string& path, Findings& findings) {
  const WaitingReserve& reserve = *room.tickets.reserve;
  const std::string at = path + ".reserve";
  if (!room.webhook) {
    findings.report(at, "who has gone is called by " + path + ".webhook, which is missing",
                    path + ".webhook");
  } else {
    for (const WaitingEvent event : {WaitingEvent::called, WaitingEvent::reserved}) {
      if (std::ranges::find(room.webhook->events, event) == room.webhook->events.end())
        findings.report(at, "the webhook needs the event " + std::string(name(event)),
                        path + ".webhook.events");
    }
  }
  if (reserve.keep < room.tickets.abandon) {
    findings.report_order(at + ".keep_ms", count_of(reserve.keep), "at least", path + ".abandon_ms",
                          count_of(room.tickets.abandon));
  }
  if (reserve.claim < room.tickets.claim) {
    findings.report_order(at + ".claim_ms", count_of(reserve.claim), "at least", path + ".claim_ms",
                          count_of(room.tickets.claim));
  }
}

void check_waiting_room(const WaitingRoom& room, const std::string& path, Findings& findings) {
  if (room.page.status != 200 && room.page.status != 202 && room.page.status != 429 &&
      room.page.status != 503) {
    findings.report(path + ".status", "found " + std::to_string(room.page.status) +
                                          ", allowed: 200, 202, 429 or 503");
  }
  findings.check_order(path + ".poll.min_ms", room.page.poll.min, path + ".poll.max_ms",
                       room.page.poll.max);
  findings.check_order(path + ".idle_ms", room.sessions.idle, path + ".session_ttl_ms",
                       room.sessions.ttl);
  check_tiers(room.tiers, path + ".tiers", findings);
  if (room.opening.queueing == Queueing::random_start && room.opening.at.empty()) {
    findings.report(path + ".queueing", "random_start needs a start: " + path + ".opens_at",
                    path + ".opens_at");
  }
  check_resources(room, path, findings);
  if (room.tickets.reserve) check_reserve(room, path, findings);
  // A visitor that polls at the requested interval is never taken for gone.
  if (room.tickets.abandon < 3 * room.page.poll.max) {
    findings.report_order(path + ".abandon_ms", count_of(room.tickets.abandon),
                          "three times or more", path + ".poll.max_ms",
                          count_of(room.page.poll.max));
  }
}

void check_webhook(const Config& config, const WaitingWebhook& webhook, const std::string& path,
                   Findings& findings) {
  const auto to = std::ranges::find(config.routes, webhook.route, &Route::name);
  if (to == config.routes.end()) {
    findings.report(path + ".route", "there is no route of this name", "$.routes");
  } else if (!to->defer) {
    const auto n = static_cast<std::size_t>(to - config.routes.begin());
    const std::string defer = route_path(n, config.routes.size()) + ".defer";
    findings.report(path + ".route", "events become jobs of this route, which needs " + defer,
                    defer);
  }
}

// A tier that no waiting room has is probably a misspelled name.
void check_tiers_of_keys(const Config& config, Findings& findings) {
  const auto has = [](const Route& route, const std::string& name) {
    if (!route.waiting_room) return false;
    const WaitingRoom& room = *route.waiting_room;
    return std::ranges::find(room.tiers, name, &WaitingTier::name) != room.tiers.end() ||
           std::ranges::find(room.bypass.tiers, name) != room.bypass.tiers.end();
  };
  const auto has_room = [](const Route& route) { return route.waiting_room.has_value(); };
  if (std::ranges::none_of(config.routes, has_room)) return;
  const std::vector<ApiKey>& keys = config.tenants.api_keys;
  for (std::size_t n = 0; n < keys.size(); ++n) {
    if (!keys[n].tier) continue;
    const auto has_it = [&](const Route& route) { return has(route, *keys[n].tier); };
    if (std::ranges::none_of(config.routes, has_it))
      findings.report(element("$.tenants.api_keys", n) + ".tier",
                      "no waiting room has a tier of this name");
  }
}

}  // namespace

void check_waiting_rooms(const Config& config, Findings& findings) {
  for (std::size_t i = 0; i < config.routes.size(); ++i) {
    const Route& route = config.routes[i];
    if (!route.waiting_room) continue;
    const std::string route_at = route_path(i, config.routes.size());
    const std::string path = route_at + ".waiting_room";
    check_waiting_room(*route.waiting_room, path, findings);
    if (route.waiting_room->webhook)
      check_webhook(config, *route.waiting_room->webhook, path + ".webhook", findings);
    if (config.own_path.empty()) {
      findings.report(path, "visitors ask for their place below $.own_path, which is empty",
                      "$.own_path");
    }
    if (route.defer && route.defer->when == DeferWhen::always) {
      findings.report(path, "every request of this route is deferred: nobody is let in",
                      route_at + ".defer.when");
    } else if (route.defer && !route.waiting_room->resources.groups.empty()) {
      findings.report(path + ".resources",
                      "a deferred request may be sent when its resource is another visitor's",
                      route_at + ".defer");
    }
  }
  check_tiers_of_keys(config, findings);
}

}  // namespace spillway::config
