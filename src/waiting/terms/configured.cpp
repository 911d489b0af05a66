#include "waiting/terms/configured.hpp"

#include <algorithm>

#include "base/time_text.hpp"

namespace spillway::waiting {

namespace {

When when_of(config::WaitingWhen when) {
  switch (when) {
    case config::WaitingWhen::full: break;
    case config::WaitingWhen::always: return When::always;
    case config::WaitingWhen::overloaded: return When::overloaded;
  }
  return When::full;
}

// The caller has to set the key of the draw.
Start start_of(const config::WaitingRoom& settings) {
  Start start;
  if (const auto at = parse_time(settings.opening.at)) start.at = *at;
  if (settings.opening.queueing == config::Queueing::random_start) start.draw.emplace();
  return start;
}

// The highest first.
std::vector<const config::WaitingTier*> sorted(const config::WaitingRoom& settings) {
  std::vector<const config::WaitingTier*> tiers;
  for (const config::WaitingTier& tier : settings.tiers) tiers.push_back(&tier);
  std::ranges::sort(tiers, std::greater{}, &config::WaitingTier::priority);
  return tiers;
}

Tiers tiers_of(const config::WaitingRoom& settings) {
  Tiers tiers;
  tiers.count = 0;
  for (const config::WaitingTier* const tier : sorted(settings))
    tiers.list[tiers.count++] = {static_cast<Priority>(tier->priority), tier->share};
  return tiers;
}

// Without resources all are equal, whatever their times (operator==).
Resources resources_of(const config::WaitingRoom& settings) {
  const config::WaitingResources& configured = settings.resources;
  Resources resources;
  if (configured.groups.empty()) return resources;
  for (const config::WaitingResource& each : configured.groups) {
    DeviceGroup& group = resources.groups.emplace_back();
    group.type = each.type;
    group.name = each.name;
    group.count = each.count.value_or(0);
    for (const config::WaitingSize& size : each.sizes)
      group.sizes.push_back({size.name, size.value});
  }
  const Milliseconds longest = configured.duration.max.value_or(settings.sessions.ttl);
  resources.default_type = configured.default_type;
  resources.duration = {configured.duration.min, longest};
  resources.usual_duration = configured.duration.usual.value_or(longest);
  resources.own_wait = {configured.own_wait.min,
                        configured.own_wait.max.value_or(settings.tickets.max_wait)};
  return resources;
}

ReserveTerms reserve_of(const config::WaitingRoom& settings) {
  if (!settings.tickets.reserve) return {};
  const config::WaitingReserve& reserve = *settings.tickets.reserve;
  return {reserve.keep, reserve.claim, reserve.anonymous};
}

}  // namespace

std::vector<std::string_view> tier_names(const config::WaitingRoom& settings) {
  std::vector<std::string_view> names;
  for (const config::WaitingTier* const tier : sorted(settings)) names.push_back(tier->name);
  return names;
}

std::string_view tier_name(const config::WaitingRoom& settings, Priority priority) {
  return tier_names(settings)[tiers_of(settings).number_of(priority)];
}

Priority priority_of(const config::WaitingRoom& settings, std::string_view tier) {
  auto found = std::ranges::find(settings.tiers, tier, &config::WaitingTier::name);
  if (found == settings.tiers.end())
    found = std::ranges::min_element(settings.tiers, {}, &config::WaitingTier::priority);
  return static_cast<Priority>(found->priority);
}

EventSet wanted_events(const config::WaitingRoom& settings) {
  EventSet wanted{};
  if (!settings.webhook) return wanted;
  for (const Event event : settings.webhook->events) wanted[static_cast<std::size_t>(event)] = true;
  return wanted;
}

Terms terms_of(const config::WaitingRoom& settings) {
  return {.active_sessions = settings.sessions.most,
          .per_minute = settings.sessions.per_minute.value_or(0),
          .session_ttl = settings.sessions.ttl,
          .idle = settings.sessions.idle,
          .expected_stay = settings.sessions.expected_stay,
          .claim = settings.tickets.claim,
          .claim_extensions = settings.tickets.claim_extensions,
          .abandon = settings.tickets.abandon,
          .max_wait = settings.tickets.max_wait,
          .shortest_poll = settings.page.poll.min,
          .longest_poll = settings.page.poll.max,
          .max_tickets = settings.tickets.most,
          .per_user = settings.tickets.per_user,
          .attempts = settings.tickets.attempts,
          .when = when_of(settings.opening.when),
          .tiers = tiers_of(settings),
          .start = start_of(settings),
          .resources = resources_of(settings),
          .reserve = reserve_of(settings)};
}

}  // namespace spillway::waiting
