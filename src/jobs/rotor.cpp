#include "jobs/rotor.hpp"

#include <algorithm>
#include <iterator>

namespace spillway::jobs {

void Rotor::enter_ring(Place& place) {
  Rank& rank = ranks_[place.lane->rank];
  auto known = rank.by_name.find(place.lane->route);
  if (known == rank.by_name.end()) {
    known = rank.by_name.emplace(place.lane->route, rank.ring.end()).first;
    known->second = rank.ring.insert(rank.ring.end(), Route{&known->first});
  }
  place.route = known->second;
  // If it joined the current round, lanes that come and go could delay the next round for
  // ever.
  place.round = 1 - place.route->round;
  Tenants& tenants = place.route->rounds[place.round];
  place.self = tenants.insert(tenants.end(), &place);
  place.left = kQuantum;
  place.is_ready = true;
  if (place.has_turn) ++place.route->open;
}

void Rotor::leave_ring(Place& place) {
  place.is_ready = false;
  place.route->rounds[place.round].erase(place.self);
  if (place.has_turn) --place.route->open;
  if (place.route->lanes() > 0) return;
  const auto rank = ranks_.find(place.lane->rank);
  rank->second.ring.erase(place.route);
  rank->second.by_name.erase(place.lane->route);
  if (rank->second.ring.empty()) ranks_.erase(rank);
}

void Rotor::sleep(Place& place, WallTime due) {
  place.due = due;
  sleeping_.emplace(std::pair{due, place.number}, &place);
}

void Rotor::forget(Place& place) {
  if (place.is_ready) {
    leave_ring(place);
  } else {
    sleeping_.erase({place.due, place.number});
  }
  places_.erase(places_.find(*place.lane));
}

// Updates the due time of a lane.
void Rotor::learn(Place& place, WallTime due) {
  if (due == place.due) return;
  if (!place.is_ready) {
    sleeping_.erase({place.due, place.number});
    sleep(place, due);
  } else if (due <= now_) {  // it keeps its place in the ring
    place.due = due;
  } else {
    leave_ring(place);
    sleep(place, due);
  }
}

void Rotor::add(const Lane& lane, WallTime due) {
  auto known = places_.find(lane);
  if (known == places_.end()) {
    if (places_.size() >= kMostLanes) return;
    known = places_.emplace(lane, Place{}).first;
    known->second.lane = &known->first;
    known->second.number = ++numbers_;
    known->second.seen_in = pages_round_;
    sleep(known->second, due);
    return;
  }
  Place& place = known->second;
  place.seen_in = pages_round_;
  if (place.has_turn) place.news = place.news ? std::min(*place.news, due) : due;
  learn(place, std::min(place.due, due));
}

void Rotor::forget_unseen() {
  for (auto next = places_.begin(); next != places_.end();) {
    Place& place = (next++)->second;
    // The store's data may be older than a job seen since the turn began.
    const bool has_news = place.has_turn && place.news;
    if (!has_news && place.seen_in != pages_round_) forget(place);
  }
}

void Rotor::refresh(std::span<const Due> lanes, Page page) {
  if (page.begins_round) ++pages_round_;
  std::map<Lane, WallTime> found;
  for (const Due& one : lanes) {
    const auto [known, is_new] = found.emplace(one.lane, one.due);
    if (!is_new) known->second = std::min(known->second, one.due);
  }
  for (const auto& [lane, due] : found) {
    const auto known = places_.find(lane);
    if (known != places_.end()) known->second.seen_in = pages_round_;
  }
  if (page.ends_round) forget_unseen();
  for (const auto& [lane, due] : found) {
    const auto known = places_.find(lane);
    if (known != places_.end() && !known->second.has_turn) {
      learn(known->second, due);
    } else {
      add(lane, due);
    }
  }
}

void Rotor::wake(WallTime now) {
  now_ = now;
  while (!sleeping_.empty() && sleeping_.begin()->first.first <= now) {
    Place& place = *sleeping_.begin()->second;
    sleeping_.erase(sleeping_.begin());
    enter_ring(place);
  }
}

// Moves a lane to the end of one of its route's rounds.
void Rotor::move_to_round(Place& place, std::size_t round) {
  auto& rounds = place.route->rounds;
  rounds[round].splice(rounds[round].end(), rounds[place.round], place.self);
  place.round = round;
}

Rotor::Place& Rotor::front(Route& route) {
  if (route.rounds[route.round].empty()) route.round = 1 - route.round;
  return *route.rounds[route.round].front();
}

// The last lane of a round gets the rest of its quantum, so that the next round can begin.
std::size_t Rotor::share(const Route& route, std::size_t has_room, std::size_t lanes) {
  if (route.rounds[route.round].size() == 1) return has_room;
  const std::size_t over = std::min(lanes, route.lanes() - route.open);
  return (has_room + over - 1) / over;
}

std::optional<Rotor::Turn> Rotor::next(WallTime now, std::size_t most, const Room& room,
                                       std::size_t lanes) {
  wake(now);
  if (most == 0 || lanes == 0) return std::nullopt;
  for (auto& [number, rank] : ranks_) {
    // A route without room is skipped, and keeps its place, since its turn is not used. So is one
    // that waits for an answer from its lane.
    bool is_asked = false;
    for (Route& route : rank.ring) {
      const std::size_t has_room = room(*route.name);
      if (has_room == 0) continue;
      Place& place = front(route);
      if (place.has_turn) {
        is_asked = true;
        continue;
      }
      const std::size_t its = share(route, std::min(has_room, most), lanes);
      return begin_turn(rank, place, std::min({place.left, route.left, its}));
    }
    if (is_asked) return std::nullopt;  // more may come of that, before lower ranks
  }
  return std::nullopt;
}

// Assumes that `limit` jobs come: so the next turn is known before the store has answered.
Rotor::Turn Rotor::begin_turn(Rank& rank, Place& place, std::size_t limit) {
  Route& route = *place.route;
  place.has_turn = true;
  ++route.open;
  place.news.reset();
  place.left -= limit;
  route.left -= limit;
  if (place.left > 0) {
    move_to_round(place, route.round);
  } else {
    place.left = kQuantum;
    move_to_round(place, 1 - route.round);
  }
  if (route.left == 0) {
    route.left = kQuantum;
    rank.ring.splice(rank.ring.end(), rank.ring, place.route);
  }
  return Turn{*place.lane, limit};
}

// nullptr: a refresh has removed or replaced it.
Rotor::Place* Rotor::end_turn(const Turn& turn, std::size_t unused) {
  const auto known = places_.find(turn.lane);
  if (known == places_.end() || !known->second.has_turn) return nullptr;
  Place& place = known->second;
  place.has_turn = false;
  // It has left the ring if a later due time was learned meanwhile.
  if (place.is_ready) {
    --place.route->open;
    place.route->left = std::min(2 * kQuantum, place.route->left + unused);
  }
  return &place;
}

void Rotor::took(const Turn& turn, std::size_t jobs) {
  Place* const place = end_turn(turn, turn.limit - std::min(turn.limit, jobs));
  if (place == nullptr || jobs >= turn.limit) return;
  if (!place->news) return forget(*place);
  // A job was seen after the claim: the lane goes to the end, like every lane that was empty.
  if (place->is_ready) {
    leave_ring(*place);
  } else {
    sleeping_.erase({place->due, place->number});
  }
  sleep(*place, *place->news);
}

void Rotor::give_up(const Turn& turn) {
  Place* const place = end_turn(turn, turn.limit);
  if (place != nullptr) place->left = std::min(kQuantum, place->left + turn.limit);
}

std::optional<WallTime> Rotor::due(const Lane& lane) const {
  const auto known = places_.find(lane);
  if (known == places_.end()) return std::nullopt;
  return known->second.due;
}

std::optional<WallTime> Rotor::next_due(const RoomFrom& from) const {
  std::optional<WallTime> due;
  const auto wait_for = [&](WallTime time) { due = due ? std::min(*due, time) : time; };
  if (!sleeping_.empty()) wait_for(sleeping_.begin()->first.first);
  for (const auto& [number, rank] : ranks_) {
    for (const Route& route : rank.ring)
      if (const auto time = from(*route.name)) wait_for(*time);
  }
  return due;
}

}  // namespace spillway::jobs
