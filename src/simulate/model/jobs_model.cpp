#include "simulate/model/jobs_model.hpp"

#include <algorithm>
#include <chrono>

#include "jobs/life.hpp"
#include "jobs/tenant_quota.hpp"
#include "simulate/model/deferral_rules.hpp"
#include "simulate/model/traffic_source.hpp"

namespace spillway::simulate {
namespace {

// The interval at which the proxy's dispatcher reads lanes from its store.
constexpr Milliseconds kLanesEvery{1000};

// Jobs have wall-clock times.
jobs::WallTime wall(TimePoint now) {
  return jobs::WallTime(std::chrono::floor<Milliseconds>(now.time_since_epoch()));
}

}  // namespace

JobsModel::JobsModel(const Scenario& scenario, TimePoint begin)
    : scenario_(scenario),
      random_(random_stream(scenario.seed, Draws::jobs, 0)),
      is_in_use_(has_deferral(scenario)),
      begin_(begin) {
  if (!is_in_use_) return;
  for (const config::Route& route : scenario.config.routes) {
    if (!route.defer) continue;
    Route& its = routes_[route.name];
    its.defer = &*route.defer;
    its.begins.allow(route.defer->rate.value_or(jobs::BeginRate::kNoCap));
  }
}

bool JobsModel::accept(Request& job, TimePoint now) {
  const config::Route& configured =
      scenario_.config
          .routes[index(simulate::route_of(scenario_, scenario_.clients[job.demand.clients]))];
  const config::Defer& defer = *configured.defer;
  const jobs::Lane lane{jobs::rank_of(defer), configured.name, job.demand.tenant_id};
  if (!has_room_for(lane, defer)) {
    ++summary_.not_kept;
    return false;
  }
  job.as_job = DeferredJob{
      .number = ++numbers_,
      .lane = lane,
      .expires = wall(now) + defer.ttl,
  };
  job.came = now;
  wait(job, {.due = wall(now)});
  pending_.emplace(job.as_job->number, now);
  ++summary_.deferred;
  if (pending_.size() > summary_.most_pending) {
    summary_.most_pending = pending_.size();
    summary_.most_pending_at = to_seconds(now - begin_);
  }
  return true;
}

bool JobsModel::has_room_for(const jobs::Lane& lane, const config::Defer& defer) const {
  const auto its = waiting_.find(lane);
  return jobs::tenant_has_room(its == waiting_.end() ? 0 : its->second.size(),
                               routes_.at(lane.route).waiting, defer.max_pending);
}

void JobsModel::wait(Request& job, const jobs::Progress& progress) {
  DeferredJob& it = *job.as_job;
  it.progress = progress;
  waiting_[it.lane].insert(&job);
  expiring_.emplace(std::pair{it.expires, it.number}, &job);
  ++route_of(job).waiting;
  rotor_.add(it.lane, progress.due);
}

void JobsModel::take(Request& job) {
  const auto lane = waiting_.find(job.as_job->lane);
  lane->second.erase(&job);
  if (lane->second.empty()) waiting_.erase(lane);
  expiring_.erase({job.as_job->expires, job.as_job->number});
  --route_of(job).waiting;
}

// Passes the lanes with jobs that are due now or soon to the rotor.
void JobsModel::tell_lanes(TimePoint now) {
  if (now < lanes_at_) return;
  lanes_at_ = now + kLanesEvery;
  std::vector<jobs::Rotor::Due> lanes;
  for (const auto& [lane, waiting] : waiting_) {
    const jobs::WallTime due = (*waiting.begin())->as_job->progress.due;
    if (due <= wall(now) + 2 * kLanesEvery) lanes.push_back({lane, due});
  }
  rotor_.refresh(lanes);
}

// The upstream as seen by jobs of this rank.
jobs::RouteCapacity::Upstream JobsModel::upstream(std::uint8_t rank) const {
  jobs::RouteCapacity::Upstream there;
  for (const auto& [its, jobs] : ranks_) {
    there.in_hand += jobs.in_hand;
    there.running += jobs.running;
    if (its <= rank) there.passed += jobs.held;
    if (its > rank) there.passed += jobs.in_hand - std::min(jobs.in_hand, jobs.running);
  }
  return there;
}

// The lanes whose turn it is, as the proxy's dispatcher requests them from its store.
std::vector<jobs::Rotor::Turn> JobsModel::turns(State state, TimePoint now) {
  std::vector<jobs::Rotor::Turn> turns;
  std::size_t asked = 0;
  const auto left = [&] {
    const std::size_t in_hand = upstream(jobs::kLowestRank).in_hand;
    return jobs::kMostInHand - std::min(in_hand + asked, jobs::kMostInHand);
  };
  const auto room = [&](const std::string& name) {
    Route& route = routes_.at(name);
    jobs::RouteCapacity::Upstream there = upstream(jobs::rank_of(*route.defer));
    there.state = state;
    there.asked = asked;
    there.left = left();
    jobs::RouteCapacity::Caps caps;
    if (route.defer->rate) {
      caps.soon = route.begins.soon(now);
      caps.running = route.begins.running();
    }
    return route.room.room(*route.defer, there, now, caps);
  };
  while (turns.size() < jobs::Rotor::kMostTurns) {
    auto turn = rotor_.next(wall(now), left(), room, jobs::Rotor::kMostTurns - turns.size());
    if (!turn) break;
    asked += turn->limit;
    routes_.at(turn->lane.route).room.ask(turn->limit);
    turns.push_back(*std::move(turn));
  }
  return turns;
}

std::vector<Request*> JobsModel::pull(State state, TimePoint now) {
  tell_lanes(now);
  std::vector<Request*> pulled;
  while (pulled.empty()) {
    const std::vector<jobs::Rotor::Turn> asked = turns(state, now);
    if (asked.empty()) break;
    for (const jobs::Rotor::Turn& turn : asked) {
      const std::vector<Request*> claimed = claim(turn, now);
      rotor_.took(turn, claimed.size());
      routes_.at(turn.lane.route).room.answered(turn.limit, claimed.size());
      ranks_[turn.lane.rank].in_hand += claimed.size();
      pulled.insert(pulled.end(), claimed.begin(), claimed.end());
    }
  }
  return pulled;
}

std::vector<Request*> JobsModel::claim(const jobs::Rotor::Turn& turn, TimePoint now) {
  std::vector<Request*> claimed;
  const auto lane = waiting_.find(turn.lane);
  if (lane == waiting_.end()) return claimed;
  for (Request* const job : lane->second) {
    const DeferredJob& it = *job->as_job;
    if (claimed.size() == turn.limit || it.progress.due > wall(now)) break;
    if (it.expires > wall(now)) claimed.push_back(job);
  }
  for (Request* const job : claimed) {
    take(*job);
    job->as_job->progress.state = jobs::JobState::leased;
  }
  return claimed;
}

Request* JobsModel::expire(TimePoint now) {
  const auto first = expiring_.begin();
  if (first == expiring_.end() || first->first.first > wall(now)) return nullptr;
  Request& job = *first->second;
  take(job);
  ++summary_.expired;
  forget(job, now);
  return &job;
}

TimePoint JobsModel::begins_from(const Request& job, TimePoint now) const {
  const Route& route = route_of(job);
  return route.defer->rate ? route.begins.next(now) : now;
}

bool JobsModel::may_begin(const Request& job, TimePoint now) {
  Route& route = route_of(job);
  if (!route.defer->rate) return true;
  if (!route.begins.try_take(now)) return false;
  route.begins.begin();
  return true;
}

std::optional<jobs::Progress> JobsModel::end(const Request& job, jobs::Cause how, TimePoint now) {
  Route& route = route_of(job);
  --ranks_[job.as_job->lane.rank].running;
  if (route.defer->rate) route.begins.end();
  leave_hand(job);
  if (how != jobs::Cause::none) route.room.tried();
  if (how == jobs::Cause::none || how == jobs::Cause::never_sent) route.room.pause(now, now);
  if (how == jobs::Cause::none) return jobs::given_back(job.as_job->progress, wall(now));
  // Each counts as a non-idempotent method, like POST.
  const jobs::Progress after =
      jobs::after_attempt(job.as_job->progress, {.cause = how}, jobs::policy_of(*route.defer),
                          job.as_job->expires, wall(now), random_);
  switch (after.state) {
    case jobs::JobState::succeeded:
      route.room.succeeded(now);
      ++summary_.done;
      break;
    case jobs::JobState::dead: ++summary_.dead; break;
    case jobs::JobState::expired: ++summary_.expired; break;
    default: ++summary_.retried; return after;
  }
  forget(job, now);
  return std::nullopt;
}

void JobsModel::put_back(Request& again, const jobs::Progress& progress) { wait(again, progress); }

void JobsModel::put_off(Request& job, TimePoint now) {
  Route& route = route_of(job);
  if (route.defer->rate) {
    route.begins.end();
    route.begins.give_back();
  }
  leave_hand(job);
  wait(job, jobs::put_off(job.as_job->progress, jobs::policy_of(*route.defer), wall(now), random_));
}

void JobsModel::give_back(Request& job, jobs::NoSlot how, TimePoint now) {
  leave_hand(job);
  if (how == jobs::NoSlot::refused) route_of(job).room.rest(now, how);
  wait(job, jobs::given_back(job.as_job->progress, wall(now)));
}

JobsSummary JobsModel::summary(TimePoint now) const {
  JobsSummary out = summary_;
  out.pending = pending_.size();
  if (!pending_.empty()) {
    out.longest = std::max(out.longest, to_seconds(now - pending_.begin()->second));
    out.empty_at.reset();
  }
  return out;
}

void JobsModel::leave_hand(const Request& job) {
  route_of(job).room.ended();
  --ranks_[job.as_job->lane.rank].in_hand;
}

void JobsModel::forget(const Request& job, TimePoint now) {
  const auto pending = pending_.find(job.as_job->number);
  summary_.longest = std::max(summary_.longest, to_seconds(now - pending->second));
  pending_.erase(pending);
  if (pending_.empty()) summary_.empty_at = to_seconds(now - begin_);
}

}  // namespace spillway::simulate
