#include "simulate/model/visitors_model.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "simulate/model/traffic_source.hpp"
#include "simulate/recording/quantile.hpp"
#include "waiting/terms/configured.hpp"

namespace spillway::simulate {
namespace {

using waiting::TicketState;
using waiting::WaitingRoom;

// A person whose page did not come tries again after this time, or later if the refusal says so.
constexpr Duration kRetry = std::chrono::seconds(3);
// As at the entrance: a younger pass is not looked up.
constexpr auto kLookUpAfter = waiting::kRenewAfter;
// In tokens, times count from 1970.
constexpr waiting::Time kEpoch{std::chrono::hours(490'000)};

Waits waits_of(std::vector<double> seconds) {
  return {.count = seconds.size(),
          .p50 = quantile(seconds, 0.5),
          .p95 = quantile(seconds, 0.95),
          .longest = quantile(seconds, 1)};
}

}  // namespace

waiting::Terms VisitorsModel::Room::terms(const config::WaitingRoom& room) {
  waiting::Terms terms = waiting::terms_of(room);
  terms.start = {};  // the simulated clock is another one
  return terms;
}

VisitorsModel::VisitorsModel(const Scenario& scenario)
    : scenario_(scenario), random_(random_stream(scenario.seed, Draws::visitors, 0)) {
  for (std::uint32_t i = 0; i < scenario.clients.size(); ++i) {
    const Clients& clients = scenario.clients[i];
    const RouteId route = route_of(scenario, clients);
    const auto& settings = scenario.config.routes[index(route)].waiting_room;
    people_.push_back(random_stream(scenario.seed, Draws::visitors, i + 1));
    rooms_of_clients_.push_back(nullptr);
    is_in_use_ = is_in_use_ || clients.visit;
    has_tiers_ = has_tiers_ || (clients.visit && !clients.visit->tier.empty());
    if (!clients.visit || !settings) continue;
    std::unique_ptr<Room>& room = rooms_[route];
    if (!room) room = std::make_unique<Room>(*settings);
    rooms_of_clients_.back() = room.get();
  }
}

waiting::Time VisitorsModel::time_of(TimePoint now) {
  return kEpoch + std::chrono::duration_cast<Milliseconds>(now.time_since_epoch());
}

waiting::TicketId VisitorsModel::id_of(const Request& pattern) {
  Random bits(pattern.visit);
  const std::uint64_t high = bits.next(), low = bits.next();
  waiting::TicketId id;
  std::memcpy(id.bytes.data(), &high, 8);
  std::memcpy(id.bytes.data() + 8, &low, 8);
  return id;
}

void VisitorsModel::arrive(Request& pattern, TimePoint now) {
  pattern.visit = visitors_.size();
  Visitor& visitor = visitors_.emplace_back();
  Random& person = people_[pattern.demand.clients];
  visitor.is_ghost = person.uniform() < visit_of(pattern).ghosts;
  visitor.is_no_show = person.uniform() < visit_of(pattern).no_shows;
  visitor.came = visitor.content = now;
  if (TierWaits* const tier = tier_of(pattern)) ++tier->came;
  ++summary_.came;
}

VisitorsModel::Step VisitorsModel::act(const Request& pattern, TimePoint now) {
  switch (visitor_of(pattern).stage) {
    case Stage::outside: return come(pattern, now);
    case Stage::stamped: return join(pattern, now);
    case Stage::in_line:
    case Stage::called: return poll(pattern, now);
    case Stage::inside: return ask_for_page(pattern, now);
    case Stage::away: break;
  }
  return {};
}

VisitorsModel::Step VisitorsModel::rest(Milliseconds pause, TimePoint now) {
  // A browser's timer is not exact.
  const double late = 0.1 * random_.uniform();
  return {Does::rests, now + pause + from_seconds(to_seconds(pause) * late), std::nullopt};
}

VisitorsModel::Step VisitorsModel::leave(Visitor& visitor, std::uint64_t Departures::*why) {
  ++(summary_.left.*why);
  if (visitor.stage == Stage::inside) --summary_.inside;
  if (visitor.stage == Stage::in_line || visitor.stage == Stage::called) --summary_.waiting;
  visitor.stage = Stage::away;
  return {};
}

VisitorsModel::Step VisitorsModel::go_in(Visitor& visitor, const Request& pattern,
                                         std::uint32_t generation, TimePoint now) {
  visitor.generation = generation;
  visitor.issued = time_of(now);
  if (visitor.stage == Stage::called) --summary_.waiting;
  visitor.stage = Stage::inside;
  visitor.content = now;
  ++summary_.entered;
  ++summary_.inside;
  return ask_for_page(pattern, now);
}

// The first contact of a visitor.
VisitorsModel::Step VisitorsModel::come(const Request& pattern, TimePoint now) {
  Visitor& visitor = visitor_of(pattern);
  Room* const room = room_of(pattern);
  if (room == nullptr) return go_in(visitor, pattern, 0, now);
  const auto priority = waiting::priority_of(room->settings, visit_of(pattern).tier);
  switch (room->room.arrive(time_of(now), priority)) {
    case WaitingRoom::Door::enter: return go_in(visitor, pattern, 0, now);
    case WaitingRoom::Door::wait: break;
    case WaitingRoom::Door::full:
    case WaitingRoom::Door::taken:
    case WaitingRoom::Door::unmet:
    case WaitingRoom::Door::ended: return leave(visitor, &Departures::turned_away);
  }
  visitor.stage = Stage::stamped;
  return rest(room->settings.page.poll.min, now);
}

// The second contact.
VisitorsModel::Step VisitorsModel::join(const Request& pattern, TimePoint now) {
  Visitor& visitor = visitor_of(pattern);
  Room& room = *room_of(pattern);
  ++summary_.polls;
  const auto contact = room.room.join(id_of(pattern), time_of(visitor.came), time_of(now),
                                      waiting::priority_of(room.settings, visit_of(pattern).tier));
  if (contact.session) return go_in(visitor, pattern, contact.session->generation, now);
  if (!contact.view) return leave(visitor, &Departures::turned_away);
  visitor.stage = Stage::in_line;
  ++summary_.waiting;
  summary_.most_waiting = std::max(summary_.most_waiting, summary_.waiting);
  if (visitor.is_ghost) return leave(visitor, &Departures::ghosts);
  return rest(contact.view->poll, now);
}

VisitorsModel::Step VisitorsModel::poll(const Request& pattern, TimePoint now) {
  Visitor& visitor = visitor_of(pattern);
  Room& room = *room_of(pattern);
  if (now - visitor.came >= visit_of(pattern).patience)
    return leave(visitor, &Departures::gave_up_in_line);
  ++summary_.polls;
  const waiting::Time time = time_of(now);
  const auto view = room.room.hear(id_of(pattern), time);
  if (!view) return leave(visitor, &Departures::lost_place);
  if (view->state == TicketState::waiting) {
    if (view->estimate && !visitor.has_told) {
      visitor.has_told = true;
      visitor.earliest = time + view->estimate->p10;
      visitor.latest = time + view->estimate->p90;
    }
    return rest(view->poll, now);
  }
  note_call(visitor, now);
  if (visitor.is_no_show) return rest(view->poll, now);
  const auto session = room.room.claim(id_of(pattern), time);
  if (!session) return rest(view->poll, now);  // at the door
  waits_.push_back(to_seconds(now - visitor.came));
  if (TierWaits* const tier = tier_of(pattern)) tier->waits.push_back(waits_.back());
  return go_in(visitor, pattern, session->generation, now);
}

VisitorsModel::TierWaits* VisitorsModel::tier_of(const Request& pattern) {
  const Room* const room = room_of(pattern);
  if (room == nullptr || !has_tiers_) return nullptr;
  const auto priority = waiting::priority_of(room->settings, visit_of(pattern).tier);
  return &tiers_[std::string(waiting::tier_name(room->settings, priority))];
}

void VisitorsModel::note_call(Visitor& visitor, TimePoint now) {
  if (visitor.stage == Stage::called) return;
  visitor.stage = Stage::called;
  if (!visitor.has_told) return;
  ++summary_.told;
  const waiting::Time time = time_of(now);
  if (time >= visitor.earliest && time <= visitor.latest) ++summary_.within;
}

VisitorsModel::Step VisitorsModel::ask_for_page(const Request& pattern, TimePoint now) {
  Visitor& visitor = visitor_of(pattern);
  Room* const room = room_of(pattern);
  if (room == nullptr) return {Does::asks_for_page, now, std::nullopt};
  const waiting::Time time = time_of(now);
  const Milliseconds look_up_after = std::min(kLookUpAfter, room->settings.sessions.idle / 4);
  if (visitor.generation == 0 || time - visitor.issued >= look_up_after) {
    const auto renewal = room->room.use(id_of(pattern), visitor.generation, visitor.issued, time);
    if (renewal.use == waiting::Use::renewed) {
      visitor.generation = renewal.generation;
      visitor.issued = time;
    } else if (renewal.use != waiting::Use::kept) {
      return leave(visitor, &Departures::sent_out);
    }
  }
  return {Does::asks_for_page, now, room->settings.sessions.traffic_class.value_or(ClassId{})};
}

VisitorsModel::Step VisitorsModel::page_ended(const Request& pattern, bool is_served,
                                              Duration retry_after, TimePoint now) {
  Visitor& visitor = visitor_of(pattern);
  const Visit& visit = visit_of(pattern);
  if (!is_served) {
    if (now - visitor.content >= visit.patience) return leave(visitor, &Departures::gave_up_inside);
    return rest(std::chrono::ceil<Milliseconds>(std::max(kRetry, retry_after)), now);
  }
  visitor.content = now;
  if (++visitor.pages < visit.pages) {
    const double think = exponential(to_seconds(visit.think), random_);
    return {Does::rests, now + from_seconds(think), std::nullopt};
  }
  ++summary_.left.done;
  --summary_.inside;
  visitor.stage = Stage::away;
  return {};
}

void VisitorsModel::tick(waiting::EntryPace::Health health, TimePoint now) {
  const waiting::Time time = time_of(now);
  for (const auto& [route, room] : rooms_) {
    const waiting::Counts counts = room->room.counts(time);
    health.is_needed = counts.entry.is_paced;
    const double pace = room->pace.tick(time, health);
    room->room.tick(time, {.is_overloaded = health.state >= State::overloaded, .pace = pace});
    const std::size_t sessions = counts.active + counts.provisional;
    summary_.most_sessions = std::max<std::uint64_t>(summary_.most_sessions, sessions);
    if (counts.present == 0) continue;
    use_.share += static_cast<double>(sessions) / room->settings.sessions.most;
    ++use_.ticks;
  }
}

void VisitorsModel::end_second(Second& second) {
  second.visitors_waiting = summary_.waiting;
  second.visitors_inside = summary_.inside;
  second.polls = summary_.polls - std::exchange(polls_before_, summary_.polls);
  summary_.most_polls = std::max(summary_.most_polls, second.polls);
}

VisitorsSummary VisitorsModel::summary() const {
  VisitorsSummary summary = summary_;
  summary.has_room = !rooms_.empty();
  summary.waits = waits_of(waits_);
  for (const auto& [name, tier] : tiers_)
    summary.tiers.push_back({name, tier.came, waits_of(tier.waits)});
  if (use_.ticks > 0) summary.use = use_.share / static_cast<double>(use_.ticks);
  return summary;
}

bool has_waiting_room(const Scenario& scenario) {
  return std::ranges::any_of(scenario.clients, [&](const Clients& clients) {
    return clients.visit &&
           scenario.config.routes[index(route_of(scenario, clients))].waiting_room.has_value();
  });
}

Scenario without_waiting_rooms(Scenario scenario) {
  for (config::Route& route : scenario.config.routes) route.waiting_room.reset();
  return scenario;
}

}  // namespace spillway::simulate
