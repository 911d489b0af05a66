// Two million random operations against a slow model.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "dispatch/scheduler/scheduler.hpp"
#include "unit/dispatch/scheduler_model.hpp"

using namespace spillway;
using namespace spillway::dispatch;
using namespace std::chrono_literals;

namespace {

// Both, side by side, and what holds at any time.
class Pair {
 public:
  Pair(config::Discipline discipline, std::uint64_t seed) : random_(seed), waiters_(40) {
    config::Dispatch settings;
    settings.discipline = model_.discipline = discipline;
    settings.aging_half_life = 50ms;
    settings.concurrency = 7;
    settings.dynamic_weights = false;
    settings.expire_policy = config::ExpirePolicy::downgrade;
    settings.evict = {ClassId{3}, ClassId{1}};
    std::vector<config::TrafficClass> classes(kClasses);
    const std::array<double, kClasses> weights{8, 3, 2, 1};
    const std::array<std::uint32_t, kClasses> capacity{5, 4, 3, 6}, reserved{1, 0, 2, 0},
        caps{7, 4, 7, 3};
    const std::array<double, kClasses> min_shares{0, 0.1, 0.2, 0.15};
    const std::array<Duration, kClasses> max_waits{40ms, 30ms, 60ms, 20ms};
    model_.concurrency = settings.concurrency;
    model_.evict = {3, 1};
    for (std::size_t i = 0; i < kClasses; ++i) {
      classes[i].min_share = model_.lanes[i].min_share = min_shares[i];
      model_.lanes[i].balance = 2 * model_.lanes[i].min_share;  // one for each other guaranteed
      classes[i].max_wait = std::chrono::duration_cast<Milliseconds>(max_waits[i]);
      max_waits_[i] = max_waits[i];
      classes[i].weight = model_.lanes[i].weight = weights[i];
      classes[i].max_queue = model_.lanes[i].capacity = capacity[i];
      classes[i].reserved = model_.lanes[i].reserved = reserved[i];
      classes[i].max_inflight = model_.lanes[i].cap = caps[i];
    }
    scheduler_ = std::make_unique<Scheduler>(settings, classes);
  }

  void step() {
    now_ += from_seconds(random_.uniform() * 0.002);
    const int waiter_id = static_cast<int>(random_.next() % waiters_.size());
    switch (waiters_[static_cast<std::size_t>(waiter_id)].state) {
      case Waiter::State::granted: release(waiter_id); break;
      case Waiter::State::queued:
        if (random_.next() % 8 == 0) cancel(waiter_id);
        break;
      default: offer(waiter_id);
    }
    if (random_.next() % 20 == 0) expire();
    check();
  }

  int refusals(Reason reason) const { return refusals_[index(reason)]; }
  int guaranteed() const { return model_.guaranteed_turns; }
  int evictions = 0, expiries = 0, downgrades = 0, grants = 0, cancellations = 0;

 private:
  Waiter& waiter(int waiter_id) { return waiters_[static_cast<std::size_t>(waiter_id)]; }
  int waiter_id(const Waiter& w) const { return static_cast<int>(&w - waiters_.data()); }

  void offer(int newcomer) {
    const std::size_t i = random_.next() % kClasses;
    Terms terms{.traffic_class = static_cast<ClassId>(i),
                .deadline = now_ + from_seconds(random_.uniform() * 0.2 - 0.005),
                .max_wait = from_seconds(random_.uniform() * 0.2),
                .short_wait_reason = Reason::inflight_saturation,
                .cost = 1 + static_cast<double>(random_.next() % 20)};
    if (random_.next() % 4 == 0) terms.short_wait = 20ms;
    terms.up_to_target_wait = random_.next() % 4 == 0;
    const Offer offer = scheduler_->offer(waiter(newcomer), terms, now_);
    const auto predicted = waiter(newcomer).predicted_wait;
    Model::Lane& lane = model_.lanes[i];
    const bool behind = !lane.queue.empty();
    const std::optional<Duration> most =
        terms.up_to_target_wait ? scheduler_->target_wait(terms.traffic_class, terms.max_wait)
                                : terms.short_wait;
    const Duration patience = std::min(terms.max_wait, terms.deadline.at - now_);
    Offer expected;
    int evicted = -1;
    if (terms.deadline.at <= now_)
      expected.reason = Reason::deadline_expired;
    else if (!behind && model_.may_start(i))
      expected.kind = Offer::Kind::granted;
    else if (behind && predicted && *predicted > patience)
      expected.reason = Reason::queue_wait_risk;
    else if (behind && predicted && most && *predicted > *most)
      expected.reason = Reason::inflight_saturation;
    else if (!model_.has_place(i) && (evicted = model_.evict_for(i)) < 0)
      expected.reason = Reason::queue_full;
    else
      expected.kind = Offer::Kind::queued;

    REQUIRE(offer.kind == expected.kind);
    REQUIRE(offer.reason == expected.reason);
    REQUIRE((offer.evicted == nullptr ? -1 : waiter_id(*offer.evicted)) == evicted);
    if (offer.kind == Offer::Kind::granted) ++lane.running, ++grants;
    if (offer.kind == Offer::Kind::queued)
      model_.enqueue(i, {newcomer, now_ + patience, now_, terms.deadline, terms.cost});
    if (offer.kind == Offer::Kind::refused) ++refusals_[index(offer.reason)];
    evictions += evicted >= 0 ? 1 : 0;
  }

  void release(int done) {
    const ClassId id = waiter(done).served_as;
    waiter(done).state = Waiter::State::idle;
    --model_.lanes[index(id)].running;
    Waiter* next = scheduler_->release(id, from_seconds(random_.uniform() * 0.04), now_);
    while (true) {
      const int expected = model_.next(now_);
      REQUIRE((next == nullptr ? -1 : waiter_id(*next)) == expected);
      if (next == nullptr) return;
      REQUIRE(next->state == Waiter::State::granted);
      ++grants;
      next = scheduler_->next(now_);
    }
  }

  void cancel(int leaving) {
    REQUIRE(model_.remove(leaving));
    REQUIRE(scheduler_->cancel(waiter(leaving), now_));
    ++cancellations;
  }

  void expire() {
    const std::vector<Model::Waiting> late = model_.expired(now_);
    std::vector<int> expired, expected;
    while (Waiter* waiter = scheduler_->expire(now_)) {
      REQUIRE(waiter->state == Waiter::State::expired);
      expired.push_back(waiter_id(*waiter));
    }
    for (const Model::Waiting& each : late) {
      model_.remove(each.waiter_id);
      const std::size_t lower = each.lane + 1;
      const bool fits = lower < kClasses && each.deadline > now_ && model_.has_place(lower);
      if (waiter(each.waiter_id).state == Waiter::State::expired) {
        // With a waiter before it there, a prediction may have said no.
        REQUIRE((!fits || !model_.lanes[lower].queue.empty()));
        expected.push_back(each.waiter_id);
        continue;
      }
      REQUIRE(fits);
      REQUIRE(waiter(each.waiter_id).served_as == static_cast<ClassId>(lower));
      Model::Waiting moved = each;
      moved.expires_at = now_ + std::min(max_waits_[lower], each.deadline - now_);
      model_.enqueue(lower, moved);
      ++downgrades;
    }
    REQUIRE(expired == expected);
    expiries += static_cast<int>(expired.size());
  }

  void check() {
    bool same = scheduler_->running() == model_.running() &&
                scheduler_->queued() == model_.queued() &&
                scheduler_->running() <= scheduler_->concurrency() && scheduler_->queued() <= 18;
    for (std::size_t i = 0; i < kClasses; ++i) {
      const auto id = static_cast<ClassId>(i);
      same = same && scheduler_->running(id) == model_.lanes[i].running &&
             scheduler_->queued(id) == model_.lanes[i].queue.size();
    }
    REQUIRE(same);
  }

  Random random_;
  Model model_;
  std::vector<Waiter> waiters_;
  std::unique_ptr<Scheduler> scheduler_;
  std::array<Duration, kClasses> max_waits_{};
  TimePoint now_ = TimePoint{} + 1h;
  std::array<int, kReasonCount> refusals_{};
};

}  // namespace

TEST_CASE("a million random operations agree with a slow model") {
  Pair pair(config::Discipline::wfq, 20);
  for (int i = 0; i < 1000000; ++i) pair.step();
  MESSAGE("grants ", pair.grants, ", evictions ", pair.evictions, ", expiries ", pair.expiries,
          ", cancellations ", pair.cancellations);
  CHECK(pair.grants > 100000);
  CHECK(pair.evictions > 1000);
  CHECK(pair.expiries > 1000);
  CHECK(pair.downgrades > 1000);
  CHECK(pair.cancellations > 1000);
  CHECK(pair.guaranteed() > 1000);
  for (const Reason reason : {Reason::deadline_expired, Reason::queue_wait_risk,
                              Reason::inflight_saturation, Reason::queue_full})
    CHECK(pair.refusals(reason) > 1000);
}

TEST_CASE("a million random operations over the other disciplines agree with a slow model") {
  using config::Discipline;
  for (const Discipline discipline : {Discipline::pq, Discipline::rr, Discipline::wrr,
                                      Discipline::drr, Discipline::aging, Discipline::edf}) {
    CAPTURE(index(discipline));
    Pair pair(discipline, 21 + index(discipline));
    for (int i = 0; i < 170000; ++i) pair.step();
    CHECK(pair.grants > 17000);
    CHECK(pair.evictions > 100);
    CHECK(pair.expiries > 100);
    CHECK(pair.downgrades > 100);
    CHECK(pair.cancellations > 100);
    CHECK(pair.guaranteed() > (discipline == Discipline::rr ? 0 : 100));
    for (const Reason reason : {Reason::deadline_expired, Reason::queue_wait_risk,
                                Reason::inflight_saturation, Reason::queue_full})
      CHECK(pair.refusals(reason) > 100);
  }
}
