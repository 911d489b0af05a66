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
  Tenants& tenants = place.route->tenants;
  place.self = tenants.insert(tenants.end(), &place);
  place.left = kQuantum;
  place.is_ready = true;
}

void Rotor::leave_ring(Place& place) {
  place.is_ready = false;
  place.route->tenants.erase(place.self);
  if (!place.route->tenants.empty()) return;
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
  if (turn_ == &place) turn_ = nullptr;
  places_.erase(places_.find(*place.lane));
}

// The lane is due at that time, as is known from now on.
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
    known->second.round = round_;
    sleep(known->second, due);
    return;
  }
  Place& place = known->second;
  place.round = round_;
  if (turn_ == &place) place.news = place.news ? std::min(*place.news, due) : due;
  learn(place, std::min(place.due, due));
}

void Rotor::forget_unseen() {
  for (auto next = places_.begin(); next != places_.end();) {
    Place& place = (next++)->second;
    // What the store has said may be older than a job seen since the turn began.
    const bool has_news = turn_ == &place && place.news;
    if (!has_news && place.round != round_) forget(place);
  }
}

void Rotor::refresh(std::span<const Due> lanes, Page page) {
  if (page.begins_round) ++round_;
  std::map<Lane, WallTime> found;
  for (const Due& one : lanes) {
    const auto [known, is_new] = found.emplace(one.lane, one.due);
    if (!is_new) known->second = std::min(known->second, one.due);
  }
  for (const auto& [lane, due] : found) {
    const auto known = places_.find(lane);
    if (known != places_.end()) known->second.round = round_;
  }
  if (page.ends_round) forget_unseen();
  for (const auto& [lane, due] : found) {
    const auto known = places_.find(lane);
    if (known != places_.end() && turn_ != &known->second) {
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

std::optional<Rotor::Turn> Rotor::next(WallTime now, std::size_t most, const Room& room) {
  wake(now);
  turn_ = nullptr;
  if (most == 0) return std::nullopt;
  for (auto& [number, rank] : ranks_) {
    // A route without room is passed over, and keeps its place: it is not its turn that is used.
    for (auto route = rank.ring.begin(); route != rank.ring.end(); ++route) {
      const std::size_t has_room = room(*route->name);
      if (has_room == 0) continue;
      Place& place = *route->tenants.front();
      turn_ = &place;
      place.news.reset();
      return Turn{*place.lane, std::min({place.left, route->left, has_room, most})};
    }
  }
  return std::nullopt;
}

// Its quantum, or its route's, is used up: to the end of its ring.
void Rotor::pass_on(Rank& rank, Place& place) {
  Route& route = *place.route;
  if (place.left == 0) {
    place.left = kQuantum;
    route.tenants.splice(route.tenants.end(), route.tenants, place.self);
  }
  if (route.left == 0) {
    route.left = kQuantum;
    rank.ring.splice(rank.ring.end(), rank.ring, place.route);
  }
}

void Rotor::took(const Turn& turn, std::size_t jobs) {
  const auto known = places_.find(turn.lane);
  const bool is_its_turn = known != places_.end() && turn_ == &known->second;
  turn_ = nullptr;
  if (!is_its_turn) return;  // a refresh has taken its place
  Place& place = known->second;
  // It has left the ring if what was learnt since is due later.
  if (place.is_ready) {
    place.left -= std::min(place.left, jobs);
    place.route->left -= std::min(place.route->left, jobs);
    pass_on(ranks_.at(turn.lane.rank), place);
  }
  if (jobs >= turn.limit) return;
  if (!place.news) return forget(place);
  // A job that was seen after the claim: it goes to the end, as every lane that was empty.
  if (place.is_ready) {
    leave_ring(place);
  } else {
    sleeping_.erase({place.due, place.number});
  }
  sleep(place, *place.news);
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
