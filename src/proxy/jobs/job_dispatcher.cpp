#include "proxy/jobs/job_dispatcher.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spillway::proxy {

namespace {

// Reads the jobs that other proxies stored, and those due again: every second, one page at a time,
// so that no stored job waits long.
constexpr std::size_t kLanesAtOnce = 1024;
constexpr Milliseconds kLanesEvery{1000};
constexpr Milliseconds kPagesEvery{100};
constexpr Milliseconds kSweepEvery{500};
constexpr Milliseconds kTotalsEvery{1000};
constexpr Milliseconds kAskAgain{500};  // after a failure of the store
// When a store is back after it was away for longer than the leases, the other proxies that live
// can report the end of their jobs before these are recovered as jobs of proxies that ended.
constexpr Milliseconds kOthersTell{1000};
constexpr std::size_t kSweepLimit = 1000;
// How often this proxy tells the others on a store its parts of caps, and reads theirs.
constexpr Milliseconds kSharesEvery{1000};

}  // namespace

JobDispatcher::JobDispatcher(Acts acts, observe::JobCounts& counts, std::string proxy_name)
    : acts_(std::move(acts)), counts_(counts), self_{std::move(proxy_name)}, lines_(acts_.tell) {}

void JobDispatcher::configure(JobRoutes routes) {
  routes_ = std::move(routes);
  set_rates();
  if (tells_shares()) renew_now();
}

void JobDispatcher::share() {
  news_.share();
  lease_.share();
  set_rates();
}

void JobDispatcher::stop_pulling() {
  is_pulling_ = false;
  if (tells_shares()) renew_now();
}

void JobDispatcher::plan(std::vector<store::Command>& commands, TimePoint now,
                         jobs::WallTime wall) {
  const Milliseconds lease = routes_.generation->config.store.lease;
  if (epoch_ != 0 && lease_.is_over(now)) lose_lease();
  if (epoch_ == 0) {
    if (in_hand() > 0) return;  // held under the lost lease, which ends first
    asked_at_ = now;
    commands.push_back(store::Join{.name = self_.name, .lease = lease, .former = self_.former});
    return;
  }
  if (now >= next_.renew) {
    next_.renew = now + (tells_shares() ? std::min(lease / 3, kSharesEvery) : lease / 3);
    asked_at_ = now;
    commands.push_back(
        store::Renew{.epoch = epoch_,
                     .lease = lease,
                     .rate = static_cast<std::int64_t>(std::llround(1000 * self_.rate)),
                     .number = ++self_.renewals,
                     .parts = tell_parts()});
  }
  if (now >= next_.sweep) {
    next_.sweep = now + kSweepEvery;
    // A lease is renewed every third: two of these periods without a renewal are too many.
    commands.push_back(store::Sweep{.limit = kSweepLimit, .silence = Duration(lease), .at = now});
  }
  if (now >= next_.totals) {
    next_.totals = now + kTotalsEvery;
    commands.push_back(store::Totals{});
  }
  lines_.plan(commands);
  // Before the pull, which uses up room: lanes that this proxy has room for are not announced.
  plan_announcement(commands, now, wall);
  if (claims_.are_lost) {
    plan_release(commands);
  } else if (is_pulling_) {
    plan_pull(commands, now, wall);
  }
}

void JobDispatcher::plan_release(std::vector<store::Command>& commands) const {
  store::Release release{.epoch = epoch_};
  for (const auto& [job, its] : leased_) release.kept.push_back(job);
  commands.emplace_back(std::move(release));
}

void JobDispatcher::plan_pull(std::vector<store::Command>& commands, TimePoint now,
                              jobs::WallTime wall) {
  if (now >= next_.lanes) {
    next_.lanes = now + kLanesEvery;
    // A lane is returned again in the next round, which takes about as long as this one.
    const int pages = std::max(round_.pages, round_.pages_before);
    commands.push_back(store::Lanes{.limit = kLanesAtOnce,
                                    .ahead = 2 * (kLanesEvery + pages * kPagesEvery),
                                    .after = round_.after});
  }
  if (!claims_.turns.empty()) return;
  while (auto turn = next_turn(now, wall)) {
    const jobs::PoisonGuard::Ask ask = poison_guard_.ask(turn->lane, turn->limit);
    commands.push_back(store::Claim{.epoch = epoch_,
                                    .lane = turn->lane,
                                    .limit = ask.limit,
                                    .most_recoveries = ask.most_recoveries});
    claims_.turns.push_back(*std::move(turn));
  }
}

std::optional<jobs::Rotor::Turn> JobDispatcher::next_turn(TimePoint now, jobs::WallTime wall) {
  auto turn = rotor_.next(
      wall, most_more(), [&](const std::string& route) { return room(route, now); },
      jobs::Rotor::kMostTurns - claims_.turns.size());
  if (!turn) return turn;
  known_[turn->lane.route].ask(turn->limit);
  at_upstream_[upstream_of(turn->lane.route)].ask(turn->limit);
  return turn;
}

// How many jobs may be pulled, over all routes.
std::size_t JobDispatcher::most_more() const {
  std::size_t taken = in_hand();
  for (const jobs::Rotor::Turn& turn : claims_.turns) taken += turn.limit;
  return jobs::kMostInHand - std::min(taken, jobs::kMostInHand);
}

// Ends one of the turns, for which the store has returned that many jobs.
void JobDispatcher::end_turn(const jobs::Rotor::Turn& turn, std::size_t pulled) {
  known_[turn.lane.route].answered(turn.limit, pulled);
  at_upstream_[upstream_of(turn.lane.route)].answered(turn.limit, pulled, rank_of(turn.lane.route));
}

void JobDispatcher::plan_announcement(std::vector<store::Command>& commands, TimePoint now,
                                      jobs::WallTime wall) {
  const auto has_room = [&](const std::string& route) {
    return is_pulling_ ? room(route, now) : 0;
  };
  store::Announce announce{.lanes = news_.take(rotor_, has_room, now, wall),
                           .cancels = news_.take_cancels(now)};
  if (!announce.lanes.empty() || !announce.cancels.empty())
    commands.emplace_back(std::move(announce));
}

void JobDispatcher::learn(store::Command& command, TimePoint now, jobs::WallTime wall) {
  if (auto* const join = std::get_if<store::Join>(&command)) {
    epoch_ = join->epoch;
    self_.former = 0;
    self_.shares.join(epoch_);
    next_.renew = tells_shares() ? now : now + join->lease / 3;
    if (lease_.is_shared()) next_.sweep = std::max(next_.sweep, now + kOthersTell);
    lease_.prolong(asked_at_, join->lease);
    clock_.learn(join->now, asked_at_, now);
  } else if (auto* const renew = std::get_if<store::Renew>(&command)) {
    renewed(*renew, now);
  } else if (auto* const claim = std::get_if<store::Claim>(&command)) {
    claimed(*claim, wall);
  } else if (const auto* const lanes = std::get_if<store::Lanes>(&command)) {
    found(*lanes, now);
  } else if (auto* const enqueue = std::get_if<store::Enqueue>(&command)) {
    if (enqueue->result == store::Enqueue::Result::accepted) {
      rotor_.add(enqueue->job.lane, enqueue->job.accepted);
      news_.wrote(enqueue->job.lane);
    }
  } else if (auto* const settle = std::get_if<store::Settle>(&command)) {
    settled(*settle, now, wall);
  } else if (std::holds_alternative<store::Release>(command)) {
    claims_.are_lost = false;
    next_.lanes = now;
  } else if (const auto* const replay = std::get_if<store::Replay>(&command)) {
    if (replay->is_dry_run) return;
    next_.lanes = now;
    tell(replay->jobs, jobs::JobState::queued, jobs::Cause::none);
  } else if (auto* const cancel = std::get_if<store::Cancel>(&command)) {
    cancelled(*cancel);
  } else if (const auto* const find = std::get_if<store::Find>(&command)) {
    lines_.learn(*find);
  } else if (auto* const sweep = std::get_if<store::Sweep>(&command)) {
    swept(*sweep, now);
  }
}

void JobDispatcher::found(const store::Lanes& lanes, TimePoint now) {
  std::vector<jobs::Rotor::Due> due;
  for (const store::Lanes::One& one : lanes.found) due.push_back({one.lane, one.oldest_due});
  rotor_.refresh(due, {.begins_round = !lanes.after, .ends_round = !lanes.next});
  round_.after = lanes.next;
  ++round_.pages;
  if (lanes.next) {
    next_.lanes = now + kPagesEvery;
  } else {
    round_.pages_before = std::exchange(round_.pages, 0);
  }
}

void JobDispatcher::claimed(store::Claim& claim, jobs::WallTime wall) {
  const auto turn = std::ranges::find(claims_.turns, claim.lane, &jobs::Rotor::Turn::lane);
  if (turn == claims_.turns.end()) return;
  const std::size_t pulled = claim.jobs.size();
  // It was asked for less than its turn and returned that; or its jobs are long.
  const bool has_more = claim.is_cut || (pulled >= claim.limit && claim.limit < turn->limit);
  // Long jobs of other lanes have filled the batch: this lane keeps its turn for the next batch.
  const bool is_passed_by = claim.is_cut && pulled == 0;
  is_passed_by ? rotor_.give_up(*turn) : rotor_.took(*turn, pulled);
  end_turn(*turn, pulled);
  claims_.turns.erase(turn);
  const std::string upstream = upstream_of(claim.lane.route);
  const std::uint8_t rank = rank_of(claim.lane.route);
  for (jobs::LeasedJob& job : claim.jobs) {
    const jobs::JobState before = jobs::given_back(job.progress, job.progress.due).state;
    const bool is_new = leased_
                            .emplace(job.id, Leased{job.lane, upstream, rank, before,
                                                    job.tenant_name, job.progress})
                            .second;
    if (is_new) poison_guard_.join(job.progress.recoveries);
    handed_.withdrawals().open(job.id);
    acts_.hand_over(std::move(job), claim.epoch);
  }
  if (has_more) rotor_.add(claim.lane, wall);
  const jobs::PoisonGuard::Ask asked{claim.limit, claim.most_recoveries};
  for (const jobs::Lane& lane : poison_guard_.answered(claim.lane, asked, claim.least_left))
    rotor_.add(lane, wall);
  counts_.in_hand.store(static_cast<std::uint32_t>(in_hand()), std::memory_order_relaxed);
}

void JobDispatcher::settled(const store::Settle& settle, TimePoint now, jobs::WallTime wall) {
  const auto leased = leased_.find(settle.id);
  if (leased == leased_.end()) return;
  const jobs::Lane lane = std::move(leased->second.lane);
  const auto its = at_upstream_.find(leased->second.upstream);
  its->second.ended(leased->second.rank);
  if (its->second.is_empty()) at_upstream_.erase(its);
  for (const jobs::Lane& other : poison_guard_.leave(leased->second.progress.recoveries))
    rotor_.add(other, wall);
  leased_.erase(leased);
  jobs::RouteCapacity& route = known_[lane.route];
  route.ended();
  counts_.in_hand.store(static_cast<std::uint32_t>(in_hand()), std::memory_order_relaxed);
  if (settle.is_lost) {
    ++counts_.lease_lost;
    return;
  }
  const jobs::Progress& progress = settle.progress;
  if (settle.attempt) route.tried();
  if (progress.state == jobs::JobState::succeeded) route.succeeded(now);
  if (jobs::waits(progress.state)) {
    rotor_.add(lane, progress.due);
    news_.wrote(lane);
  }
  // The next job of the same order may be claimable now.
  if (jobs::has_ended(progress.state)) rotor_.add(lane, wall);
}

// A job that another proxy has in hand may still be cancelled by that proxy.
void JobDispatcher::cancelled(store::Cancel& cancel) {
  cancel.is_elsewhere =
      cancel.was == jobs::JobState::leased && lease_.is_shared() && !leased_.contains(cancel.id);
  if (cancel.is_elsewhere) news_.cancelled({.id = cancel.id, .cause = cancel.cause});
  if (!cancel.is_done) return;
  ++counts_.cancelled;
  lines_.ask(cancel.id, jobs::JobState::cancelled, cancel.cause);
}

void JobDispatcher::renewed(const store::Renew& renew, TimePoint now) {
  if (renew.epoch != epoch_) return;
  clock_.learn(renew.now, asked_at_, now);
  if (renew.is_lost) return lose_lease();
  lease_.prolong(asked_at_, renew.lease);
  self_.shares.learn(renew.others);
  set_rates();
  if (!self_.shares.is_settled()) renew_now();
}

// Upstream requests are ended first, since another proxy may send them again.
void JobDispatcher::lose_lease() {
  lease_.lose();
  acts_.abort_all();
  self_.former = std::exchange(epoch_, 0);
  self_.shares.join(epoch_);
  set_rates();
  claims_.are_lost = false;
}

bool JobDispatcher::has_work(TimePoint now, jobs::WallTime wall) const {
  if (in_hand() > 0) return true;
  const auto first =
      rotor_.next_due([&](const std::string& route) -> std::optional<jobs::WallTime> {
        const auto known = known_.find(route);
        const bool pauses = known != known_.end() && known->second.pauses(now);
        if (pauses || !routes_.routes.contains(route)) return std::nullopt;
        return wall;
      });
  return first && *first <= wall;
}

void JobDispatcher::heard(const store::Heard& heard, jobs::WallTime wall) {
  for (const jobs::Lane& lane : heard.lanes) rotor_.add(lane, wall);
  for (const store::AskedCancel& cancel : heard.cancels)
    handed_.withdrawals().ask(cancel.id, cancel.cause);
}

std::set<std::string, std::less<>> JobDispatcher::paused(const store::Totals& totals,
                                                         TimePoint now) const {
  std::set<std::string, std::less<>> names;
  for (const store::Totals::Route& route : totals.routes) {
    const auto known = known_.find(route.route);
    const bool pauses = known != known_.end() && known->second.pauses(now);
    if (pauses || !routes_.routes.contains(route.route)) names.insert(route.route);
  }
  return names;
}

void JobDispatcher::pause(const std::string& name, TimePoint now, TimePoint until) {
  known_[name].pause(now, until);
}

void JobDispatcher::rest(const store::Settle& settle, TimePoint now, jobs::NoSlot how) {
  const auto leased = leased_.find(settle.id);
  if (leased == leased_.end()) return;
  const Leased& its = leased->second;
  if (how == jobs::NoSlot::refused || lease_.is_shared() || jobs::is_alone(its.progress.recoveries))
    known_[its.lane.route].rest(now, how);
}

void JobDispatcher::refused(const std::string& name, TimePoint now, TimePoint until) {
  known_[name].refused(now, until);
}

void JobDispatcher::failed(TimePoint now) {
  // The claimed jobs may be leased nevertheless.
  if (!claims_.turns.empty()) claims_.are_lost = true;
  for (const jobs::Rotor::Turn& turn : claims_.turns) {
    rotor_.give_up(turn);
    end_turn(turn, 0);
  }
  claims_.turns.clear();
  poison_guard_.failed();
  next_.renew = std::min(next_.renew, now + kAskAgain);
  next_.sweep = next_.lanes = next_.totals = now + kAskAgain;
}

TimePoint JobDispatcher::next_due(TimePoint now, jobs::WallTime wall) const {
  // The jobs in hand are settled first, and that wakes the thread.
  if (epoch_ == 0) return in_hand() > 0 ? now + kAskAgain : now;
  if (lines_.has_untold()) return now;
  TimePoint due = std::min({next_.renew, next_.sweep, next_.totals});
  if (const auto news = news_.next_due()) due = std::min(due, *news);
  if (!is_pulling_) return due;
  due = std::min(due, next_.lanes);
  const auto wall_of = [&](TimePoint time) {
    return wall + std::chrono::ceil<std::chrono::milliseconds>(time - now);
  };
  const auto job = rotor_.next_due([&](const std::string& route) -> std::optional<jobs::WallTime> {
    const auto from = room_from(route, now);
    if (!from) return std::nullopt;
    return wall_of(*from);
  });
  if (job)
    due = std::min(due, now + (*job > wall ? Duration(*job - wall)
                                           : Duration(jobs::RouteCapacity::kLookAgain)));
  return due;
}

}  // namespace spillway::proxy
