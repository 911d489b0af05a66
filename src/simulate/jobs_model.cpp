#include "simulate/jobs_model.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "simulate/deferral_rules.hpp"
#include "simulate/traffic_source.hpp"

namespace spillway::simulate {
namespace {

// As the proxy's dispatcher.
constexpr std::size_t kMostInHand = 1024;
constexpr std::size_t kLeastAhead = 8;  // handed out beyond those that run
constexpr std::size_t kQuantum = 16;    // of a route in a row
constexpr Duration kFirstRoutePause = std::chrono::seconds(1);
constexpr Duration kLongestRoutePause = std::chrono::seconds(30);
constexpr Duration kNoRoom = std::chrono::seconds(1);

constexpr std::uint8_t kLowestRank = 255;  // below all classes

}  // namespace

std::uint8_t JobsModel::Lane::rank() const {
  return defer->traffic_class ? static_cast<std::uint8_t>(*defer->traffic_class) : kLowestRank;
}

JobsModel::JobsModel(const Scenario& scenario, TimePoint begin)
    : scenario_(scenario),
      random_(random_stream(scenario.seed, Draws::jobs, 0)),
      is_in_use_(has_deferral(scenario)),
      lanes_(scenario.config.routes.size()),
      begin_(begin) {
  if (!is_in_use_) return;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const auto& defer = scenario.config.routes[i].defer;
    lanes_[i].defer = defer ? &*defer : nullptr;
  }
}

bool JobsModel::accept(Request& job, TimePoint now) {
  Lane& lane = lane_of(job);
  if (lane.waiting.size() >= lane.defer->max_pending) {
    ++summary_.not_kept;
    return false;
  }
  job.as_job = DeferredJob{.number = ++numbers_, .due = now};
  job.came = now;
  lane.waiting.insert(&job);
  pending_.emplace(job.as_job->number, now);
  ++summary_.deferred;
  if (pending_.size() > summary_.most_pending) {
    summary_.most_pending = pending_.size();
    summary_.most_pending_at = to_seconds(now - begin_);
  }
  return true;
}

std::vector<Request*> JobsModel::pull(State state, TimePoint now) {
  std::vector<Request*> pulled;
  if (in_hand_ >= kMostInHand) return pulled;
  Lane* const lane = next_lane(state, now);
  if (lane == nullptr) return pulled;
  lane->turn = ++turns_;
  const std::size_t most = std::min({room(*lane, state, now), kQuantum, kMostInHand - in_hand_});
  while (pulled.size() < most && !lane->waiting.empty() &&
         (*lane->waiting.begin())->as_job->due <= now) {
    pulled.push_back(*lane->waiting.begin());
    lane->waiting.erase(lane->waiting.begin());
  }
  lane->in_hand += pulled.size();
  lane->tokens -= static_cast<double>(pulled.size());
  in_hand_ += pulled.size();
  return pulled;
}

Request* JobsModel::expire(TimePoint now) {
  for (Lane& lane : lanes_) {
    if (lane.waiting.empty()) continue;
    Request* const first = *lane.waiting.begin();
    if (first->as_job->due > now || first->came + lane.defer->ttl > now) continue;
    lane.waiting.erase(lane.waiting.begin());
    ++summary_.expired;
    forget(*first, now);
    return first;
  }
  return nullptr;
}

// Of the lanes with a job that is due and may be pulled: the highest, then the one whose turn is
// the longest ago.
JobsModel::Lane* JobsModel::next_lane(State state, TimePoint now) {
  Lane* next = nullptr;
  for (Lane& lane : lanes_) {
    if (lane.waiting.empty() || (*lane.waiting.begin())->as_job->due > now) continue;
    const bool is_first = next == nullptr || lane.rank() < next->rank() ||
                          (lane.rank() == next->rank() && lane.turn < next->turn);
    if (is_first && room(lane, state, now) > 0) next = &lane;
  }
  return next;
}

// How many jobs of the route may be pulled now.
std::size_t JobsModel::room(Lane& lane, State state, TimePoint now) const {
  if (now < lane.paused_until) return 0;
  // While live requests are refused there is no room to spare.
  if (!lane.defer->traffic_class && state != State::normal) return 0;
  const std::size_t ahead = in_hand_ - std::min(in_hand_, running_);
  const std::size_t wanted = std::max(kLeastAhead, running_);
  if (ahead * 2 > wanted) return 0;
  std::size_t most = wanted - ahead;
  if (lane.defer->concurrency) {
    const std::size_t cap = *lane.defer->concurrency;
    most = std::min(most, cap - std::min(cap, lane.in_hand));
  }
  if (lane.defer->rate) {
    refill(lane, *lane.defer->rate, now);
    most = std::min(most, static_cast<std::size_t>(std::max(lane.tokens, 0.0)));
  }
  return most;
}

// No more than a tenth of a second's jobs at once.
void JobsModel::refill(Lane& lane, double rate, TimePoint now) {
  const double most = std::max(1.0, rate / 10);
  if (lane.refilled != TimePoint{})
    lane.tokens = std::min(most, lane.tokens + rate * to_seconds(now - lane.refilled));
  lane.refilled = now;
}

// As jobs::after_attempt().
bool JobsModel::end(const Request& job, Attempt how, TimePoint now) {
  Lane& lane = lane_of(job);
  --running_;
  leave_hand(job);
  const config::Defer& defer = *lane.defer;
  const std::uint32_t attempts = job.as_job->attempts + (how == Attempt::never_sent ? 0 : 1);
  if (how == Attempt::answered) {
    lane.last_pause = Duration{0};
    ++summary_.done;
  } else if (how == Attempt::never_sent && now >= lane.paused_until) {
    lane.last_pause = std::clamp(lane.last_pause * 2, kFirstRoutePause, kLongestRoutePause);
    lane.paused_until = now + lane.last_pause;
  }
  if (how != Attempt::answered) {
    const bool may_again = how != Attempt::unanswered || defer.retry_unanswered;
    if (may_again && attempts < defer.max_attempts) {
      ++summary_.retried;
      return true;
    }
    ++summary_.dead;
  }
  forget(job, now);
  return false;
}

void JobsModel::put_back(Request& again, Attempt how, TimePoint now) {
  if (how != Attempt::never_sent) ++again.as_job->attempts;
  again.as_job->due = now + pause_after(again);
  lane_of(again).waiting.insert(&again);
}

void JobsModel::put_off(Request& job, TimePoint now) {
  Lane& lane = lane_of(job);
  leave_hand(job);
  job.as_job->due = now + lane.defer->backoff.base + pause_after(job);
  lane.waiting.insert(&job);
}

Duration JobsModel::pause_after(const Request& job) {
  const config::JobBackoff& backoff = lane_of(job).defer->backoff;
  const double doubled =
      std::ldexp(to_seconds(backoff.base),
                 static_cast<int>(std::min(std::max(job.as_job->attempts, 1u), 64u)) - 1);
  return from_seconds(random_.uniform() * std::min(doubled, to_seconds(backoff.max)));
}

void JobsModel::give_back(Request& job, TimePoint now) {
  leave_hand(job);
  job.as_job->due = now + kNoRoom;
  lane_of(job).waiting.insert(&job);
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

JobsModel::Lane& JobsModel::lane_of(const Request& job) {
  return lanes_[index(route_of(scenario_, scenario_.clients[job.demand.clients]))];
}

void JobsModel::leave_hand(const Request& job) {
  --lane_of(job).in_hand;
  --in_hand_;
}

void JobsModel::forget(const Request& job, TimePoint now) {
  const auto pending = pending_.find(job.as_job->number);
  summary_.longest = std::max(summary_.longest, to_seconds(now - pending->second));
  pending_.erase(pending);
  if (pending_.empty()) summary_.empty_at = to_seconds(now - begin_);
}

}  // namespace spillway::simulate
